"""A real API server, and instances of a sandbox account that a test fills, which join it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import yaml

from trainyard.components.eks.node_group_plan import NodeGroupPlan, render_self_managed_user_data
from trainyard.sandbox.access import HEADER, Endpoint
from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import session_token

ACCOUNT_ID = "123456789012"


class SandboxAccountDouble:
    """Answers the node simulator directly and the authenticator over HTTP."""

    def __init__(self) -> None:
        self.authentication_mode = "API_AND_CONFIG_MAP"
        self.access_entries: dict[str, dict[str, Any]] = {}
        """By role ARN: `username` and `kubernetes_groups`."""
        self.running: dict[str, Instance] = {}
        self.roles: dict[str, str] = {}
        """Role ARN by instance profile."""
        self.node_groups: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def endpoint(self) -> Endpoint:
        """The account, whose access key is checked for nothing but the header."""
        return Endpoint(f"http://127.0.0.1:{self._server.server_port}", "SANDBOX00")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def running_instance_ids(self) -> set[str]:
        """As `SandboxAccount`."""
        return set(self.running)

    def instances(self, instance_ids: Iterable[str]) -> list[Instance]:
        """As `SandboxAccount`."""
        return [self.running[instance_id] for instance_id in instance_ids]

    def terminate(self, instance_id: str) -> None:
        """As `SandboxAccount`."""
        self.running.pop(instance_id, None)

    def role_arn(self, instance_profile: str) -> str | None:
        """As `SandboxAccount`."""
        return self.roles.get(instance_profile)

    def node_group(self, cluster: str, name: str) -> dict[str, Any]:
        """As `SandboxAccount`."""
        return self.node_groups[f"{cluster}/{name}"]

    def cluster(self, name: str) -> dict[str, Any]:
        """As `SandboxAccount`: every cluster is reached from anywhere."""
        return {
            "name": name,
            "accessConfig": {"authenticationMode": self.authentication_mode},
            "resourcesVpcConfig": {"endpointPrivateAccess": False},
        }

    def ingress_rules(self, security_group_id: str) -> list[dict[str, Any]]:
        """As `SandboxAccount`; must not be called."""
        raise AssertionError(f"nobody should ask for {security_group_id}")

    def identity(self, arn: str, session: str) -> dict[str, Any]:
        """The authenticator's information about a caller."""
        instance = self.running.get(session)
        return {
            "authentication_mode": self.authentication_mode,
            "access_entry": self.access_entries.get(arn),
            "private_dns_name": instance.private_dns_name if instance else None,
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        account = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                if self.headers[HEADER] != account.endpoint.access_key:
                    self.send_error(403)
                    return
                if parts.path == "/_trainyard/caller":
                    known = query["access_key"] == account.endpoint.access_key
                    self._answer(200 if known else 404, {"arn": ""})
                else:
                    found = account.identity(query["arn"], query.get("session", ""))
                    self._answer(200 if parts.path == "/_trainyard/identity" else 404, found)

            def _answer(self, status: int, content: dict[str, Any]) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_arguments: object) -> None:
                """Write nothing for each request."""

        return Handler


_NODE_GROUPS = ["system:bootstrappers", "system:nodes"]
_AWS_AUTH = "/api/v1/namespaces/kube-system/configmaps/aws-auth"


class JoinedCluster:
    """A control plane with an account and a node simulator."""

    def __init__(self, account: SandboxAccountDouble, plane: ControlPlane) -> None:
        self.account = account
        self.plane = plane
        self.api = plane.administrator()

    def launch(
        self,
        number: int,
        role: str,
        instance_type: str = "p5.48xlarge",
        tags: Mapping[str, str] | None = None,
    ) -> Instance:
        """Run an instance with user data to join; a p5 has all of its EFA interfaces."""
        user_data = {
            "apiVersion": "node.eks.aws/v1alpha1",
            "kind": "NodeConfig",
            "spec": {
                "cluster": {
                    "name": self.plane.name,
                    "apiServerEndpoint": self.plane.endpoint,
                    "certificateAuthority": self.plane.certificate_authority_data,
                    "cidr": "10.100.0.0/16",
                },
                "kubelet": {"flags": [f"--node-labels=trainyard/number={number}"]},
            },
        }
        instance = Instance(
            instance_id=f"i-{number:017x}",
            instance_type=instance_type,
            image_id="ami-0123456789abcdef0",
            region="us-west-2",
            availability_zone="us-west-2b",
            zone_id="usw2-az1",
            private_dns_name=f"ip-10-0-1-{number}.us-west-2.compute.internal",
            private_ip_address=f"10.0.1.{number}",
            efa_interfaces=32 if instance_type == "p5.48xlarge" else 0,
            security_group_ids=(),
            instance_profile=role.rpartition("/")[2],
            root_volume_gib=100,
            user_data=yaml.safe_dump(user_data).encode(),
            tags=tags or {},
        )
        self.account.roles[instance.instance_profile] = role
        self.account.running[instance.instance_id] = instance
        return instance

    def launch_group(self, group: NodeGroupPlan, number: int, role: str) -> Instance:
        """Run an instance of a self-managed group, with the group's own user data."""
        plane = self.plane
        user_data = render_self_managed_user_data(
            group,
            cluster_name=plane.name,
            endpoint=plane.endpoint,
            certificate_authority=plane.certificate_authority_data,
            service_cidr="10.100.0.0/16",
        )
        instance = Instance(
            instance_id=f"i-{number:017x}",
            instance_type=group.instance_type.name,
            image_id="ami-0123456789abcdef0",
            region="us-west-2",
            availability_zone="us-west-2b",
            zone_id="usw2-az1",
            private_dns_name=f"ip-10-0-2-{number}.us-west-2.compute.internal",
            private_ip_address=f"10.0.2.{number}",
            efa_interfaces=group.interfaces.efa_interfaces if group.interfaces else 0,
            security_group_ids=(),
            instance_profile=role.rpartition("/")[2],
            root_volume_gib=500,
            user_data=user_data.encode(),
            tags={},
        )
        self.account.roles[instance.instance_profile] = role
        self.account.running[instance.instance_id] = instance
        return instance

    def kubeconfig(self) -> str:
        """Return a kubeconfig of an administrator."""
        plane = self.plane
        server = {
            "server": plane.endpoint,
            "certificate-authority-data": plane.certificate_authority_data,
        }
        return yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": server}],
                "users": [{"name": "u", "user": {"token": plane.admin_token}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )

    def terminate(self, instance: Instance) -> None:
        """Terminate an instance, if it exists."""
        self.account.running.pop(instance.instance_id, None)

    def allow(self, *roles: str) -> None:
        """Set the roles of aws-auth to exactly these."""
        mappings = [
            {
                "rolearn": role,
                "username": "system:node:{{EC2PrivateDNSName}}",
                "groups": _NODE_GROUPS,
            }
            for role in roles
        ]
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "aws-auth"},
            "data": {"mapRoles": yaml.safe_dump(mappings)},
        }
        self.api.patch(
            f"{_AWS_AUTH}?fieldManager=test&force=true", body, "application/apply-patch+yaml"
        )

    def aws_auth(self) -> dict[str, str]:
        """The data of aws-auth."""
        return self.api.get(_AWS_AUTH)["data"]

    def node(self, instance: Instance) -> dict[str, Any] | None:
        """The instance's Node, or None."""
        selector = f"metadata.name={instance.private_dns_name}"
        nodes = self.api.get("/api/v1/nodes", fieldSelector=selector)["items"]
        return nodes[0] if nodes else None

    def lease(self, instance: Instance) -> dict[str, Any]:
        """The lease of the instance's Node: who keeps it alive, and until when."""
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        return self.api.get(f"{leases}/{instance.private_dns_name}")["spec"]

    def is_ready(self, instance: Instance) -> bool:
        """Whether pods can run on the instance: it is Ready and has no taints."""
        node = self.node(instance)
        if node is None:
            return False
        conditions = node["status"].get("conditions", [])
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return ready and not node["spec"].get("taints")

    def allocatable(self, instance: Instance, resource: str) -> str | None:
        """Allocatable amount of a resource on the instance's Node, or None."""
        node = self.node(instance)
        return node["status"]["allocatable"].get(resource) if node else None

    def as_instance(self, instance: Instance) -> KubernetesApi:
        """The API server as an instance's own role sees it."""
        return KubernetesApi(
            self.plane.endpoint,
            certificate_authority_data=self.plane.certificate_authority_data,
            token=session_token(
                self.plane.access_key,
                self.account.roles[instance.instance_profile],
                instance.instance_id,
            ),
        )
