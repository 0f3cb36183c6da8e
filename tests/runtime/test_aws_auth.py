"""The dynamic resource: its state, its diffs, and its outputs."""

from __future__ import annotations

import base64
from typing import Any

import dill
import pulumi
import pytest
from pulumi.dynamic.dynamic import serialize_provider
from pulumi.runtime.rpc import UNKNOWN

from tests.runtime.support.aws_auth import (
    NODE_GROUPS,
    NODE_ROLE_ARN,
    NODE_ROLE_IN_MAP,
    NODE_USERNAME,
    kubeconfig_for,
)
from trainyard.components.runtime import aws_auth_config_map
from trainyard.components.runtime.aws_auth import AwsAuthEntry, AwsAuthProvider
from trainyard.components.runtime.aws_auth_config_map import AwsAuthConfigMap
from trainyard.components.runtime.aws_auth_plan import MappedRole

PROVIDER = AwsAuthProvider()
OLD_CLUSTER = kubeconfig_for("http://127.0.0.1:9")
PROPS: dict[str, Any] = {
    "kubeconfig": OLD_CLUSTER,
    "role_arn": NODE_ROLE_ARN,
    "username": NODE_USERNAME,
    "groups": [*NODE_GROUPS],
}


def test_what_the_engine_stores_of_the_provider_never_changes():
    """Another name, or a class with state, would change every stack."""
    stored = base64.b64decode(serialize_provider(PROVIDER))
    assert b"trainyard_state:AWS_AUTH" in stored
    assert b"AwsAuthProvider" not in stored
    assert len(stored) < 120
    assert isinstance(dill.loads(stored), AwsAuthProvider)


def test_a_provider_that_this_environment_cannot_import_is_renamed_in_place():
    """A state of version 0.1 in an installed package: only a clone has `components`."""
    known = base64.b64encode(dill.dumps(PROVIDER)).decode()
    gone = base64.b64encode(b"\x80\x04\x8c\x05gone_\x8c\x04Here\x93.").decode()
    same = PROVIDER.diff("id", {**PROPS, "__provider": known}, PROPS)
    renamed = PROVIDER.diff("id", {**PROPS, "__provider": gone}, PROPS)
    assert (same.changes, same.replaces) == (False, [])
    assert (renamed.changes, renamed.replaces) == (True, [])


def test_the_kubeconfig_is_a_secret_and_the_type_is_fixed(deploy):
    entry = deploy(
        lambda: AwsAuthEntry(
            "p5-access",
            kubeconfig=OLD_CLUSTER,
            role_arn=NODE_ROLE_ARN,
            username=NODE_USERNAME,
            groups=NODE_GROUPS,
            opts=pulumi.ResourceOptions(protect=True),
        )
    ).one("p5-access")
    assert entry.type == "pulumi-python:dynamic/aws-auth:Entry"
    assert entry.inputs["username"] == NODE_USERNAME
    assert entry.inputs["kubeconfig"] == {"secret": OLD_CLUSTER}


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        pytest.param({"role_arn": "arn:aws:iam::1:role/other"}, ["role_arn"], id="role"),
        pytest.param({"role_arn": UNKNOWN}, ["role_arn"], id="role-to-be-made"),
        pytest.param({"kubeconfig": kubeconfig_for("http://b:9")}, ["kubeconfig"], id="cluster"),
        pytest.param({"username": "other"}, [], id="username"),
        pytest.param({"groups": ["system:nodes"]}, [], id="groups"),
        pytest.param(
            {"kubeconfig": OLD_CLUSTER.replace("s3cr3t", "n3w")}, [], id="new-credentials"
        ),
    ],
)
def test_a_change_is_seen_and_only_another_role_or_cluster_replaces(change, replaces):
    found = PROVIDER.diff("id", PROPS, {**PROPS, **change})
    assert found.changes
    assert found.replaces == replaces


@pytest.mark.parametrize("news", [{}, {"kubeconfig": UNKNOWN}], ids=["same", "cluster-in-change"])
def test_nothing_new_is_no_change(news):
    assert PROVIDER.diff("id", PROPS, {**PROPS, **news}).changes is False


def test_refuses_what_could_never_authorize_anybody():
    result = PROVIDER.check({}, {**PROPS, "role_arn": "p5-node", "username": ""})
    assert [failure.property for failure in result.failures] == ["role_arn", "username"]
    assert not PROVIDER.check({}, {**PROPS, "role_arn": UNKNOWN}).failures


def test_an_entry_of_a_cluster_that_is_gone_is_gone_too(monkeypatch):
    said = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    assert PROVIDER.read("id", PROPS).id == ""
    PROVIDER.delete("id", PROPS)
    (warning,) = said
    assert "taken as gone" in warning


@pytest.mark.parametrize(
    ("before", "said"),
    [
        pytest.param(None, False, id="new"),
        pytest.param(MappedRole(NODE_ROLE_IN_MAP, NODE_USERNAME, NODE_GROUPS), False, id="same"),
        pytest.param(MappedRole(NODE_ROLE_IN_MAP, "other", ("view",)), True, id="different"),
    ],
)
def test_an_entry_that_said_something_else_is_named_when_it_is_adopted(monkeypatch, before, said):
    warnings = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    monkeypatch.setattr(AwsAuthConfigMap, "put", lambda *_args, **_options: before)
    PROVIDER.create(PROPS)
    assert bool(warnings) is said
    assert all("'other'" in warning and "['view']" in warning for warning in warnings)


def test_create_does_not_wait_in_vain_for_a_wrong_kubeconfig():
    with pytest.raises(aws_auth_config_map.AwsAuthError, match="is not one"):
        PROVIDER.create({**PROPS, "kubeconfig": "{}"})


@pytest.mark.kubernetes
def test_the_life_of_an_entry(control_plane):
    """PR-25, EKN-15: created, read, drifted, repaired, and removed."""
    props = {**PROPS, "kubeconfig": control_plane.kubeconfig.read_text()}
    entries = AwsAuthConfigMap(props["kubeconfig"])
    made = PROVIDER.create(props)
    assert made.id == NODE_ROLE_IN_MAP
    assert made.outs == props
    assert PROVIDER.read(made.id, props).outs == props
    PROVIDER.create(props)  # an interrupted create that is repeated

    text = entries._read().data["mapRoles"]
    drifted = text.replace("    - system:nodes\n", "").replace("username: ", "username: x-")
    patch = {"data": {"mapRoles": drifted + "    - theirs\n"}}
    entries._api.patch_namespaced_config_map("aws-auth", "kube-system", patch)
    seen = PROVIDER.read(made.id, props).outs
    assert seen["groups"] == ["system:bootstrappers"]
    assert PROVIDER.diff(made.id, seen, props).changes
    PROVIDER.update(made.id, seen, props)
    assert PROVIDER.read(made.id, props).outs == props
    assert entries.find(NODE_ROLE_ARN).groups == (*NODE_GROUPS, "theirs")

    PROVIDER.update(made.id, props, {**props, "groups": ["system:nodes"]})
    assert entries.find(NODE_ROLE_ARN).groups == ("system:nodes", "theirs")
    PROVIDER.delete(made.id, props)
    assert PROVIDER.read(made.id, props).id == ""
