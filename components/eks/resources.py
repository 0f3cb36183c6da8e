"""The EKS architecture: control plane, node groups and cluster services.

The plan decides which resources exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from trainyard.components.capacity.plan import LINUX
from trainyard.components.compute.reservations import make_reservations
from trainyard.components.eks.addons.registry import device_plugins, drained_node_groups
from trainyard.components.eks.cluster import CoreDns, CoreDnsArgs, EksCluster, EksClusterArgs
from trainyard.components.eks.cluster_services import (
    ClusterServices,
    ClusterServicesArgs,
    DevicePlugins,
    MetricsScraper,
    MetricsScraperArgs,
    NodesInService,
    SelfManagedAddonsArgs,
)
from trainyard.components.eks.cluster_storage import ClusterStorage, ClusterStorageArgs
from trainyard.components.eks.node_group_plan import NodeGroupPlan, node_devices
from trainyard.components.eks.node_groups import (
    ManagedNodeGroup,
    NodeAccessEntry,
    NodeAccessEntryArgs,
    NodeGroupArgs,
    SelfManagedNodeGroup,
)
from trainyard.components.eks.plan import EksPlan
from trainyard.components.engine_calls import begin_with
from trainyard.components.identity.node_role import NodeRole, NodeRoleArgs
from trainyard.components.monitoring.plan import Subject
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.network.efa_security_group import EfaSecurityGroup, EfaSecurityGroupArgs
from trainyard.components.runtime.aws_auth import AwsAuthEntry
from trainyard.components.runtime.aws_auth_plan import NODE_GROUPS, NODE_USERNAME

NodeGroup = ManagedNodeGroup | SelfManagedNodeGroup


class EksArchitecture(pulumi.ComponentResource):
    """The EKS cluster of an `EksPlan`.

    Explicit dependencies ensure the order that AWS needs: VPC CNI and the EFA rules before any
    node, the authorization of a role before its nodes, CoreDNS after the system nodes, and device
    plugins after the nodes that the plan expects now.

    Children: `<name>` (`EksCluster`), `<name>-efa` (`EfaSecurityGroup`, if a node group has EFA),
    `<name>-<reservation>` (`CapacityReservation` or `ReservationGroup`, if new), for each node
    group `<name>-<group>` (`NodeRole`, and `ManagedNodeGroup` or `SelfManagedNodeGroup`) and
    `<name>-<group>-access` (`AwsAuthEntry` or `NodeAccessEntry`, for self-managed groups),
    `<name>-coredns` (`CoreDns`), `<name>-plugins` (`DevicePlugins`), `<name>-services`
    (`ClusterServices`), `<name>-network` (`Vpc`), `<name>-storage` (`ClusterStorage`) and
    `<name>-scraper` (`MetricsScraper`), if planned.
    """

    def __init__(
        self, name: str, plan: EksPlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:architectures:EksArchitecture", name, {}, opts)
        self._name = name
        self._plan = plan
        self._child = pulumi.ResourceOptions(parent=self)

        self._network = ClusterNetwork(
            f"{name}-network", plan.network, tags=plan.tags, opts=self._child
        )
        self._cluster = self._make_cluster()
        begin_with(self._cluster)
        self._efa = self._make_efa_security_group()
        self._roles = {group.name: self._make_role(group) for group in plan.node_groups}
        self._authorizations = {
            group.name: self._authorize(group)
            for group in plan.node_groups
            if group.management == "self-managed"
        }
        self._reservations = make_reservations(name, plan, platform=LINUX, opts=self._child)
        self._groups = {group.name: self._make_node_group(group) for group in plan.node_groups}
        system = plan.node_groups[0]
        CoreDns(
            f"{name}-coredns",
            CoreDnsArgs(
                cluster_name=self._cluster.access.cluster_name,
                version=plan.addon_versions.coredns,
                runs_on=self._groups[system.name].ready,
                tags=plan.tags,
            ),
            self._child,
        )
        self._make_device_plugins()
        services = self._make_services()
        self._storage = self._mount_file_systems(services)
        self._make_scraper()
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the stack outputs, by name."""
        access = self._cluster.access
        return {
            "cluster_name": access.cluster_name,
            "cluster_endpoint": access.endpoint,
            "cluster_version": self._cluster.version,
            "vpc_id": self._network.vpc_id,
            "private_subnet_ids": [
                self._network.subnet_id(subnet) for subnet in self._plan.network.private_names
            ],
            "security_group_ids": {
                "cluster": access.security_group_id,
                **({"efa": self._efa.security_group_id} if self._efa else {}),
            },
            "kubeconfig": self._cluster.kubeconfig,
            "node_groups": {group.name: self._describe(group) for group in self._plan.node_groups},
            "aws_auth_role_arns": self._aws_auth_role_arns(),
            "device_plugins": device_plugins(self._plan),
            "addons": {addon.name: addon.version for addon in self._plan.addons},
            "drained_node_groups": drained_node_groups(self._plan),
            **({"file_systems": self._storage.outputs()} if self._storage else {}),
            "notes": list(self._plan.notes),
        }

    def monitored(self) -> Mapping[Subject, pulumi.Input[str]]:
        """Return the ids of what the metrics of the stack measure."""
        groups = {name: made.auto_scaling_group for name, made in self._groups.items()}
        systems = self._storage.file_system_ids() if self._storage else {}
        return {
            **Subject.each("auto-scaling-group", groups),
            **Subject.each("file-system", systems),
            **Subject.each("reservation", self._reservations.ids),
        }

    def _make_cluster(self) -> EksCluster:
        plan = self._plan
        return EksCluster(
            self._name,
            EksClusterArgs(
                cluster_name=plan.name,
                vpc_id=self._network.vpc_id,
                subnet_ids=self._network.subnet_ids(),
                kubernetes_version=plan.kubernetes_version,
                authentication_mode=plan.authentication_mode,
                endpoint_public_access=plan.endpoint_public_access,
                endpoint_private_access=plan.endpoint_private_access,
                public_access_cidrs=plan.public_access_cidrs,
                log_types=plan.log_types,
                log_group=plan.log_group,
                secrets_key_arn=plan.secrets_key_arn,
                addon_versions=plan.addon_versions,
                tags=plan.tags,
            ),
            self._child,
        )

    def _make_efa_security_group(self) -> EfaSecurityGroup | None:
        plan = self._plan
        if not any(group.interfaces for group in plan.node_groups):
            return None
        args = EfaSecurityGroupArgs(vpc_id=self._network.vpc_id, tags=plan.tags)
        return EfaSecurityGroup(f"{self._name}-efa", args, self._child)

    def _make_device_plugins(self) -> None:
        DevicePlugins(
            f"{self._name}-plugins",
            SelfManagedAddonsArgs(
                plan=self._plan,
                provider=self._cluster.kubernetes_provider,
                ready={group: made.ready for group, made in self._groups.items()},
            ),
            self._child,
        )

    def _make_services(self) -> ClusterServices:
        return ClusterServices(
            f"{self._name}-services",
            ClusterServicesArgs(
                plan=self._plan,
                cluster_name=self._cluster.access.cluster_name,
                cluster_arn=self._cluster.arn,
                oidc_provider=self._cluster.oidc_provider,
                provider=self._cluster.kubernetes_provider,
                groups={
                    group: NodesInService(ready=made.ready, group_name=made.group_name)
                    for group, made in self._groups.items()
                },
            ),
            self._child,
        )

    def _mount_file_systems(self, services: ClusterServices) -> ClusterStorage | None:
        plan = self._plan
        if not plan.file_systems:
            return None
        args = ClusterStorageArgs(
            file_systems=plan.file_systems,
            network=self._network,
            cluster=self._cluster,
            provider=self._cluster.kubernetes_provider,
            cluster_security_group_id=self._cluster.access.security_group_id,
            efa_security_group_id=self._efa.security_group_id if self._efa else None,
            driver=[services],
            tags=plan.tags,
        )
        return ClusterStorage(f"{self._name}-storage", args, self._child)

    def _make_scraper(self) -> None:
        plan = self._plan.scraper
        if plan is None:
            return
        args = MetricsScraperArgs(
            plan=plan,
            cluster_arn=self._cluster.arn,
            security_group_id=self._cluster.access.security_group_id,
            subnet_ids=[self._network.subnet_id(subnet) for subnet in plan.subnets],
            tags=self._plan.tags,
        )
        MetricsScraper(f"{self._name}-scraper", args, self._child)

    def _make_role(self, group: NodeGroupPlan) -> NodeRole:
        args = NodeRoleArgs(
            extra_policies=group.iam_policies,
            addon_policies=group.addon_policies,
            cluster_name=self._plan.name,
            region=self._plan.region,
            tags=self._plan.tags,
        )
        return NodeRole(f"{self._name}-{group.name}", args, self._child)

    def _authorize(self, group: NodeGroupPlan) -> pulumi.Resource:
        name, role = f"{self._name}-{group.name}-access", self._roles[group.name]
        if self._plan.node_authorization == "access-entry":
            args = NodeAccessEntryArgs(
                cluster_name=self._cluster.access.cluster_name,
                role_arn=role.arn,
                tags=self._plan.tags,
            )
            return NodeAccessEntry(name, args, self._child)
        return AwsAuthEntry(
            name,
            kubeconfig=self._cluster.kubeconfig,
            role_arn=role.arn,
            username=NODE_USERNAME,
            groups=NODE_GROUPS,
            # The package creates the ConfigMap: the entry is added after that and removed first.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self._cluster]),
        )

    def _make_node_group(self, group: NodeGroupPlan) -> NodeGroup:
        component = ManagedNodeGroup if group.management == "managed" else SelfManagedNodeGroup
        args = NodeGroupArgs(
            cluster_name=self._plan.name,
            kubernetes_version=self._plan.kubernetes_version,
            plan=group,
            access=self._cluster.access,
            subnet_ids=[self._network.subnet_id(subnet) for subnet in group.subnets],
            efa_security_group_id=self._efa.security_group_id if self._efa else None,
            reservation_id=self._reservations.ids.get(group.capacity.purchase_option),
            reservation_group_arn=self._reservations.group_arns.get(group.capacity.purchase_option),
            role=self._roles[group.name],
            launch_after=self._before_nodes_of(group),
            group_metrics=self._plan.monitoring_plan is not None,
            tags=self._plan.tags,
        )
        return component(f"{self._name}-{group.name}", args, self._child)

    def _before_nodes_of(self, group: NodeGroupPlan) -> Sequence[pulumi.Resource]:
        efa = self._efa if group.interfaces else None
        needed = [self._cluster, efa, self._authorizations.get(group.name), *self._network.ready]
        return [resource for resource in needed if resource is not None]

    def _describe(self, group: NodeGroupPlan) -> dict[str, pulumi.Input[object]]:
        kind = "node_group" if group.management == "managed" else "autoscaling_group"
        return {
            "instance_type": group.instance_type.name,
            "management": group.management,
            kind: self._groups[group.name].group_name,
            "desired": group.schedule.desired,
            "role_arn": self._roles[group.name].arn,
            "devices": node_devices(group, self._plan.self_managed_addons),
        }

    def _aws_auth_role_arns(self) -> list[pulumi.Output[str]]:
        if self._plan.node_authorization != "aws-auth":
            return []
        return [self._roles[name].arn for name in self._authorizations]
