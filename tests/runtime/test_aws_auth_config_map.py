"""Reading and writing the ConfigMap, on a real API server and with concurrent writers."""

from __future__ import annotations

import json
import logging
import subprocess
import threading

import pytest
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from tests.runtime.support.aws_auth import (
    NODE_GROUPS,
    NODE_ROLE_ARN,
    NODE_ROLE_IN_MAP,
    NODE_USERNAME,
    TWENTY_ROLES,
    USERS,
    kubeconfig_for,
)
from tests.support.processes import PATIENCE
from trainyard.components.runtime import aws_auth_config_map
from trainyard.components.runtime.aws_auth_config_map import (
    MADE_BY_US,
    AwsAuthConfigMap,
    AwsAuthError,
    ClusterGoneError,
    server_of,
)
from trainyard.components.runtime.aws_auth_plan import MappedRole, MapRolesError

NODE = MappedRole(NODE_ROLE_ARN, NODE_USERNAME, NODE_GROUPS)


class Cluster:
    """The real API server, with helpers that read and write its `aws-auth` like other clients."""

    def __init__(self, kubeconfig: str) -> None:
        self.kubeconfig = kubeconfig
        self.entries = AwsAuthConfigMap(kubeconfig)
        self.api = self.entries._api

    def write(self, **data: str) -> None:
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="aws-auth"), data=data)
        self.api.create_namespaced_config_map("kube-system", body)

    def read(self):
        return self.api.read_namespaced_config_map("aws-auth", "kube-system")

    def exists(self) -> bool:
        listed = self.api.list_namespaced_config_map("kube-system")
        return "aws-auth" in {item.metadata.name for item in listed.items}


@pytest.fixture
def cluster(control_plane):
    made = Cluster(control_plane.kubeconfig.read_text())
    yield made
    if made.exists():
        made.api.delete_namespaced_config_map("aws-auth", "kube-system")


@pytest.mark.kubernetes
def test_the_stock_map_is_made_where_there_is_none_and_goes_with_its_last_entry(cluster):
    """PR-25."""
    cluster.entries.put(NODE)
    made = cluster.read()
    assert made.metadata.labels == MADE_BY_US
    assert list(made.data) == ["mapRoles"]
    found = cluster.entries.find(NODE_ROLE_ARN)
    assert (found.username, found.groups) == (NODE_USERNAME, NODE_GROUPS)
    cluster.entries.put(NODE)
    assert cluster.read().metadata.resource_version == made.metadata.resource_version

    cluster.entries.take_out(NODE_ROLE_ARN)
    assert not cluster.exists()
    cluster.entries.take_out(NODE_ROLE_ARN)  # no effect if it does not exist


@pytest.mark.kubernetes
def test_a_map_that_others_use_meanwhile_stays_when_ours_leaves(cluster):
    cluster.entries.put(NODE)
    patch = {"data": {"mapUsers": USERS}}
    cluster.api.patch_namespaced_config_map("aws-auth", "kube-system", patch)
    cluster.entries.take_out(NODE_ROLE_ARN)
    assert cluster.read().data == {"mapUsers": USERS}


@pytest.mark.kubernetes
def test_twenty_roles_and_users_survive_to_the_byte(cluster):
    """PR-25, G10: every entry, comment and unusual style is preserved."""
    cluster.write(mapRoles=TWENTY_ROLES, mapUsers=USERS)
    cluster.entries.put(NODE)
    data = cluster.read().data
    assert data["mapUsers"] == USERS
    assert data["mapRoles"].startswith(TWENTY_ROLES.rstrip())
    assert NODE_ROLE_IN_MAP in data["mapRoles"]
    cluster.entries.take_out(NODE_ROLE_ARN)
    assert cluster.read().data == {"mapRoles": TWENTY_ROLES, "mapUsers": USERS}


@pytest.mark.kubernetes
def test_the_real_authenticator_reads_every_role_after_the_merge(cluster, kubernetes_programs):
    def parsed():
        answer = subprocess.run(
            [*kubernetes_programs["authenticator"], "--parse"],
            input=json.dumps(cluster.read().data),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(answer.stdout)

    cluster.write(mapRoles=TWENTY_ROLES, mapUsers=USERS)
    before = parsed()
    cluster.entries.put(NODE)
    after = parsed()
    ours = {"rolearn": NODE_ROLE_IN_MAP, "username": NODE_USERNAME, "groups": [*NODE_GROUPS]}
    assert len(before["roles"]) == 20
    by_arn = {role["rolearn"].lower(): role for role in after["roles"]}
    assert by_arn == {
        **{role["rolearn"].lower(): role for role in before["roles"]},
        NODE_ROLE_IN_MAP: ours,
    }
    assert after["users"] == before["users"]
    assert "error" not in after


@pytest.mark.kubernetes
def test_many_writers_at_once_lose_no_entry(cluster):
    """Two stacks, EKS and a person who write at the same time."""
    cluster.write(mapRoles=TWENTY_ROLES)
    roles = [
        MappedRole(f"arn:aws:iam::123456789012:role/n{n}", NODE_USERNAME, NODE_GROUPS)
        for n in range(8)
    ]
    threads = [
        threading.Thread(target=AwsAuthConfigMap(cluster.kubeconfig).put, args=(role,))
        for role in roles
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert all(cluster.entries.find(role.role_arn) for role in roles)
    for role in roles:
        cluster.entries.take_out(role.role_arn)
    assert cluster.read().data == {"mapRoles": TWENTY_ROLES}


@pytest.mark.kubernetes
def test_a_write_between_our_read_and_our_write_is_kept(cluster, monkeypatch):
    cluster.write(mapRoles=TWENTY_ROLES)
    real_read = cluster.entries._read
    foreign = TWENTY_ROLES + "- rolearn: arn:aws:iam::123456789012:role/meanwhile\n"

    def read_and_lose_the_race():
        found = real_read()
        monkeypatch.setattr(cluster.entries, "_read", real_read)
        patch = {"data": {"mapRoles": foreign}}
        cluster.api.patch_namespaced_config_map("aws-auth", "kube-system", patch)
        return found

    monkeypatch.setattr(cluster.entries, "_read", read_and_lose_the_race)
    cluster.entries.put(NODE)
    text = cluster.read().data["mapRoles"]
    assert text.startswith(foreign.rstrip())
    assert NODE_ROLE_IN_MAP in text


@pytest.mark.kubernetes
def test_a_broken_map_is_refused_and_left_as_it_is(cluster):
    broken = "- rolearn: [\n"
    cluster.write(mapRoles=broken)
    for change in (lambda: cluster.entries.put(NODE), lambda: cluster.entries.find(NODE_ROLE_ARN)):
        with pytest.raises(MapRolesError, match="line 2"):
            change()
    assert cluster.read().data == {"mapRoles": broken}


@pytest.mark.kubernetes
def test_a_kubeconfig_whose_command_gets_the_token_works(cluster, control_plane):
    """As pulumi-eks creates them, with `aws eks get-token`."""
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": {},
        "status": {"token": control_plane.admin_token},
    }
    config = json.loads(kubeconfig_for(control_plane.endpoint))
    config["clusters"][0]["cluster"]["certificate-authority-data"] = (
        control_plane.certificate_authority_data
    )
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": credential["apiVersion"],
            "command": "echo",
            "args": [json.dumps(credential)],
        }
    }
    AwsAuthConfigMap(json.dumps(config)).put(NODE)
    assert cluster.entries.find(NODE_ROLE_ARN)


@pytest.mark.kubernetes
def test_a_credential_that_the_cluster_does_not_know_is_explained_and_not_shown(
    cluster, control_plane, caplog
):
    wrong = cluster.kubeconfig.replace(control_plane.admin_token, "s3cr3t-token")
    with caplog.at_level(logging.DEBUG), pytest.raises(AwsAuthError) as refused:
        AwsAuthConfigMap(wrong).put(NODE)
    assert "aws eks get-token" in str(refused.value)
    assert control_plane.endpoint in str(refused.value)
    assert "s3cr3t-token" not in str(refused.value) + caplog.text


NOBODY = kubeconfig_for("http://127.0.0.1:9")  # the discard port, on which no process listens


def test_an_endpoint_where_nothing_answers_is_tried_for_a_while_and_named(monkeypatch):
    pauses = []
    monkeypatch.setattr(aws_auth_config_map.time, "sleep", pauses.append)
    with pytest.raises(ClusterGoneError, match=r"http://127\.0\.0\.1:9 does not answer"):
        AwsAuthConfigMap(NOBODY, give_up_seconds=0.2).put(NODE)
    assert pauses


def test_taking_out_does_not_wait_for_a_cluster_that_is_gone():
    with pytest.raises(ClusterGoneError):
        AwsAuthConfigMap(NOBODY).take_out(NODE_ROLE_ARN)


def test_a_refusal_names_what_to_grant(monkeypatch):
    entries = AwsAuthConfigMap(NOBODY)

    def forbidden(*_args, **_options):
        raise ApiException(status=403, reason="Forbidden")

    monkeypatch.setattr(entries._api, "read_namespaced_config_map", forbidden)
    with pytest.raises(AwsAuthError, match="AmazonEKSClusterAdminPolicy"):
        entries.put(NODE)


def test_a_map_that_is_always_busy_ends_in_an_error(monkeypatch):
    entries = AwsAuthConfigMap(NOBODY, give_up_seconds=0)
    conflict = ApiException(status=409, reason="Conflict")

    def busy():
        raise conflict

    monkeypatch.setattr(entries, "_read", busy)
    with pytest.raises(AwsAuthError, match="409: Conflict"):
        entries.put(NODE)


@pytest.mark.parametrize("text", ["", "a: [", "contexts: s3cr3t-token", "just words"])
def test_refuses_what_is_not_a_kubeconfig_without_quoting_it(text):
    with pytest.raises(AwsAuthError) as refused:
        server_of(text)
    assert "s3cr3t" not in str(refused.value)
    assert "cluster's output `kubeconfig`" in str(refused.value)
