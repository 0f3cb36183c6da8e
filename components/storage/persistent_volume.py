"""A Lustre file system as a volume that any number of pods can mount.

Source: https://github.com/kubernetes-sigs/aws-fsx-csi-driver,
`examples/kubernetes/static_provisioning`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta

from components.storage.fsx_lustre_plan import ClaimPlan

DRIVER = "fsx.csi.aws.com"
ACCESS_MODE = "ReadWriteMany"
NEVER_RESIZED = ["spec.resources"]
"""The API server refuses to resize statically provisioned claims. The size of the claim has no
effect; the volume has the size of the file system.
https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreVolumeArgs:
    """Arguments of `LustreVolume`."""

    provider: kubernetes.Provider
    claim: ClaimPlan
    file_system_id: pulumi.Input[str]
    dns_name: pulumi.Input[str]
    mount_name: pulumi.Input[str]
    capacity_gib: int
    """Size of volume and claim; Lustre does not enforce it."""
    install_after: Sequence[pulumi.Resource]
    """The driver and the rules to reach the file system."""
    gone_with: pulumi.Resource
    """The cluster: when it is deleted, the deletion does not wait for pods that use the claim."""


class LustreVolume(pulumi.ComponentResource):
    """A PersistentVolume of a file system and its claim for pods.

    The volume can bind only to its claim. Deleting it keeps the file system (`Retain`).

    Children: `<name>-volume` (`PersistentVolume`), `<name>-claim` (`PersistentVolumeClaim`).
    """

    def __init__(
        self, name: str, args: LustreVolumeArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:storage:LustreVolume", name, {}, opts)
        claim, size = args.claim, {"storage": f"{args.capacity_gib}Gi"}
        volume = core.PersistentVolume(
            f"{name}-volume",
            metadata=meta.ObjectMetaArgs(name=claim.volume_name),
            spec=core.PersistentVolumeSpecArgs(
                capacity=size,
                volume_mode="Filesystem",
                access_modes=[ACCESS_MODE],
                persistent_volume_reclaim_policy="Retain",
                storage_class_name="",
                mount_options=list(claim.mount_options),
                claim_ref=core.ObjectReferenceArgs(
                    api_version="v1",
                    kind="PersistentVolumeClaim",
                    name=claim.name,
                    namespace=claim.namespace,
                ),
                csi=core.CSIPersistentVolumeSourceArgs(
                    driver=DRIVER,
                    volume_handle=args.file_system_id,
                    volume_attributes={"dnsname": args.dns_name, "mountname": args.mount_name},
                ),
            ),
            opts=self._options(args, *args.install_after),
        )
        core.PersistentVolumeClaim(
            f"{name}-claim",
            metadata=meta.ObjectMetaArgs(name=claim.name, namespace=claim.namespace),
            spec=core.PersistentVolumeClaimSpecArgs(
                access_modes=[ACCESS_MODE],
                # Not the default StorageClass, which would provision a new volume.
                storage_class_name="",
                volume_name=claim.volume_name,
                resources=core.VolumeResourceRequirementsArgs(requests=size),
            ),
            opts=pulumi.ResourceOptions.merge(
                self._options(args, volume), pulumi.ResourceOptions(ignore_changes=NEVER_RESIZED)
            ),
        )
        self.register_outputs({})

    def _options(
        self, args: LustreVolumeArgs, *depends_on: pulumi.Resource
    ) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(
            parent=self,
            provider=args.provider,
            depends_on=list(depends_on),
            deleted_with=args.gone_with,
        )
