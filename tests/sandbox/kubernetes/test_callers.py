"""Users of a cluster's API server: their identities by authentication mode, and their permissions.

Each request has its own token, because the API server caches tokens for some seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from trainyard.sandbox.aws.server import AwsServer  # isort: skip  - before anything that imports moto

from tests.support.processes import spawn, until
from tests.support.sandbox_aws import Account, use_account
from trainyard.components.account.reader import AccountReader
from trainyard.components.eks.lookup import read_aws_auth
from trainyard.sandbox.kubernetes.api import ApiError, KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane, ControlPlanes
from trainyard.sandbox.kubernetes.kubelet import session_token

pytestmark = pytest.mark.kubernetes

ROLE = "arn:aws:iam::123456789012:role/"
POLICIES = "arn:aws:eks::aws:cluster-access-policy"
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")


class Cluster:
    """One cluster for many callers."""

    def __init__(self, account: Account, plane: ControlPlane) -> None:
        self.account = account
        self.plane = plane
        self._numbers = itertools.count()

    def status(self, role: str, method: str = "get") -> int:
        """Return the answer to a session of a role that reads or creates a ConfigMap."""
        number = next(self._numbers)
        api = KubernetesApi(
            self.plane.endpoint,
            certificate_authority_data=self.plane.certificate_authority_data,
            token=session_token(self.plane.access_key, ROLE + role, f"session-{number}"),
        )
        try:
            if method == "get":
                api.get(CONFIG_MAPS)
            else:
                body = {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": f"made-{number}"},
                }
                api.post(CONFIG_MAPS, body)
        except ApiError as error:
            return error.status
        finally:
            api.close()
        return 200

    def update_mode(self, mode: str) -> None:
        """Change the authentication mode."""
        self.account.eks.update_cluster_config(name="c", accessConfig={"authenticationMode": mode})


@pytest.fixture(scope="module")
def cluster(kubernetes_programs, tmp_path_factory) -> Iterator[Cluster]:
    """A cluster that starts in the mode of the ConfigMap."""
    with AwsServer(region="us-west-2", keep_time=False) as server:
        planes = ControlPlanes(
            tmp_path_factory.mktemp("clusters"), kubernetes_programs, server.access, spawn
        )
        server.use_control_planes(planes)
        try:
            account = Account(server)
            account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})

            def active() -> bool:
                return account.eks.describe_cluster(name="c")["cluster"]["status"] == "ACTIVE"

            until(active, "the cluster being ACTIVE")
            plane = planes.get("c")
            assert plane is not None
            yield Cluster(account, plane)
        finally:
            planes.stop_all()


def test_people_are_let_in_by_what_the_mode_reads(cluster, monkeypatch):
    """The modes in order: the first ignores access entries, and the last ignores aws-auth."""
    use_account(monkeypatch, cluster.account.server.access)
    eks, api = cluster.account.eks, cluster.plane.administrator()
    in_map = "- rolearn: arn:aws:iam::123456789012:role/mapped\n  groups: [system:masters]\n"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "aws-auth"}}
    api.post(CONFIG_MAPS, body | {"data": {"mapRoles": in_map}})
    until(lambda: cluster.status("mapped") == 200, "the authenticator reading aws-auth")
    roles = ("admin", "writer", "reader", "guest")
    arns = {role: cluster.account.role(role) for role in roles}
    seen: dict[str, list[int]] = {}
    for mode in MODES:
        if mode != "CONFIG_MAP":
            cluster.update_mode(mode)
        if mode == "API_AND_CONFIG_MAP":
            for role in roles:
                eks.create_access_entry(clusterName="c", principalArn=arns[role])
            for role, policy in (("admin", "ClusterAdmin"), ("writer", "Edit"), ("reader", "View")):
                eks.associate_access_policy(
                    clusterName="c",
                    principalArn=arns[role],
                    policyArn=f"{POLICIES}/AmazonEKS{policy}Policy",
                    accessScope={"type": "cluster"},
                )
        seen[mode] = [cluster.status(role) for role in ("mapped", *roles)]
        # The creator's own token, as the program creates it.
        reader = AccountReader(region="us-west-2")
        found = read_aws_auth(reader, eks.describe_cluster(name="c")["cluster"])
        assert (found, reader.unreadable) == ({"mapRoles": in_map}, []), mode
    assert seen == {
        "CONFIG_MAP": [200, 401, 401, 401, 401],
        "API_AND_CONFIG_MAP": [200, 200, 200, 200, 403],
        "API": [401, 200, 200, 200, 403],
    }
    makes = [cluster.status(role, "post") for role in roles]
    assert makes == [200, 200, 403, 403]
    api.close()
