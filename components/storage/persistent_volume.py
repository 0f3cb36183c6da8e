"""A Lustre file system as a volume that any number of pods can mount.

Source: https://github.com/kubernetes-sigs/aws-fsx-csi-driver,
`examples/kubernetes/static_provisioning`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from trainyard.components.kubernetes_object import KubernetesObject
from trainyard.components.storage.storage_plan import ClaimPlan

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
        names = {"name": claim.name, "namespace": claim.namespace}
        volume = KubernetesObject(
            f"{name}-volume",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": claim.volume_name},
                "spec": {
                    "capacity": size,
                    "volumeMode": "Filesystem",
                    "accessModes": [ACCESS_MODE],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "storageClassName": "",
                    "mountOptions": list(claim.mount_options),
                    "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **names},
                    "csi": {
                        "driver": DRIVER,
                        "volumeHandle": args.file_system_id,
                        "volumeAttributes": {
                            "dnsname": args.dns_name,
                            "mountname": args.mount_name,
                        },
                    },
                },
            },
            self._options(args, *args.install_after),
        )
        KubernetesObject(
            f"{name}-claim",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": names,
                "spec": {
                    "accessModes": [ACCESS_MODE],
                    # Not the default StorageClass, which would provision a new volume.
                    "storageClassName": "",
                    "volumeName": claim.volume_name,
                    "resources": {"requests": size},
                },
            },
            pulumi.ResourceOptions.merge(
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
