"""File systems of an EKS stack, new or existing, with access rules and volumes for pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.storage.fsx_lustre import (
    FsxLustre,
    FsxLustreArgs,
    LustreClientRules,
    LustreClientRulesArgs,
)
from trainyard.components.storage.persistent_volume import LustreVolume, LustreVolumeArgs
from trainyard.components.storage.storage_plan import FsxLustrePlan, mount_command

UNKNOWN_CAPACITY_GIB = 1200
"""Claim size if the size is unknown: the smallest possible size. Kubernetes does not enforce it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStorageArgs:
    """Arguments of `ClusterStorage`."""

    file_systems: Sequence[FsxLustrePlan]
    network: ClusterNetwork
    cluster: pulumi.Resource
    """The volumes are deleted with it."""
    provider: kubernetes.Provider
    cluster_security_group_id: pulumi.Input[str]
    """Security group of every node."""
    efa_security_group_id: pulumi.Input[str] | None
    driver: Sequence[pulumi.Resource]
    """The add-ons, including the CSI driver."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A new or existing file system."""

    file_system_id: pulumi.Input[str]
    dns_name: pulumi.Input[str]
    mount_name: pulumi.Input[str]
    security_group_id: pulumi.Input[str] | None


class ClusterStorage(pulumi.ComponentResource):
    """The file systems in `storage` of a stack file.

    Children, for each file system `<name>-<file system>`: `FsxLustre` if new, `LustreClientRules`
    (`…-clients`) if the stack may add rules, and `LustreVolume` (`…-mount`).
    """

    def __init__(
        self, name: str, args: ClusterStorageArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:architectures:ClusterStorage", name, {}, opts)
        self._name = name
        self._args = args
        self._child = pulumi.ResourceOptions(parent=self)
        self._made = {plan.name: self._make(plan) for plan in args.file_systems}
        for plan in args.file_systems:
            self._mount(plan, self._made[plan.name])
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the values that users need to mount each file system, by name."""
        return {plan.name: self._describe(plan) for plan in self._args.file_systems}

    def file_system_ids(self) -> dict[str, pulumi.Input[str]]:
        """Return the id of each file system, by name."""
        return {name: made.file_system_id for name, made in self._made.items()}

    def _make(self, plan: FsxLustrePlan) -> _Made:
        if plan.settings is None:
            return _Made(
                file_system_id=plan.file_system_id or "",
                dns_name=plan.dns_name or "",
                mount_name=plan.mount_name or "",
                security_group_id=plan.security_group_id,
            )
        network = self._args.network
        args = FsxLustreArgs(
            plan=plan, vpc_id=network.vpc_id, subnet_id=network.subnet_id(plan.subnets[0])
        )
        made = FsxLustre(f"{self._name}-{plan.name}", args, self._child)
        return _Made(
            file_system_id=made.file_system_id,
            dns_name=made.dns_name,
            mount_name=made.mount_name,
            security_group_id=made.security_group_id,
        )

    def _mount(self, plan: FsxLustrePlan, made: _Made) -> None:
        name = f"{self._name}-{plan.name}"
        LustreVolume(
            f"{name}-mount",
            LustreVolumeArgs(
                provider=self._args.provider,
                claim=plan.claim,
                file_system_id=made.file_system_id,
                dns_name=made.dns_name,
                mount_name=made.mount_name,
                capacity_gib=plan.capacity_gib or UNKNOWN_CAPACITY_GIB,
                install_after=[*self._args.driver, *self._let_clients_in(name, plan, made)],
                gone_with=self._args.cluster,
            ),
            self._child,
        )

    def _let_clients_in(
        self, name: str, plan: FsxLustrePlan, made: _Made
    ) -> Sequence[pulumi.Resource]:
        if made.security_group_id is None:
            return []
        efa = plan.settings is not None and plan.settings.efa_enabled
        args = LustreClientRulesArgs(
            servers=made.security_group_id,
            clients=self._args.cluster_security_group_id,
            efa_clients=self._args.efa_security_group_id if efa else None,
            tags=self._args.tags,
        )
        return LustreClientRules(f"{name}-clients", args, self._child).made

    def _describe(self, plan: FsxLustrePlan) -> dict[str, pulumi.Input[object]]:
        made = self._made[plan.name]
        command = pulumi.Output.all(made.dns_name, made.mount_name).apply(
            lambda names: mount_command(
                dns_name=names[0], mount_name=names[1], directory=f"/mnt/{plan.claim.name}"
            )
        )
        return {
            "file_system_id": made.file_system_id,
            "claim": f"{plan.claim.namespace}/{plan.claim.name}",
            "mount_command": command,
            "deletion_protection": plan.settings is not None and plan.deletion_protection,
        }
