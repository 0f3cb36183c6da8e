"""Resources that pulumi-eks registers for a managed node group, without running its plugin.

Source:
    https://github.com/pulumi/pulumi-eks/blob/master/nodejs/eks/nodes/nodegroup.ts
    (`createManagedNodeGroup`, `createMNGCustomLaunchTemplate`) and `instances.ts`
    (`getEfaNetworkInterfaces`)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.policy import Declared
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.types import EKS_NODE_GROUP, LAUNCH_TEMPLATE, PLACEMENT_GROUP

COMPONENT = "eks:index:ManagedNodeGroup"
_KEPT = ("capacityType", "instanceTypes", "nodeRoleArn", "scalingConfig", "subnetIds", "taints")


def with_children(program: Iterable[Declared]) -> list[Declared]:
    """Return a program with the resources of each managed node group."""
    found: list[Declared] = []
    for declared in program:
        found += _children(declared) if declared.type == COMPONENT else [declared]
    return found


def _children(group: Declared) -> list[Declared]:
    args = group.props
    kept = {key: args[key] for key in _KEPT if key in args}
    if not ("enableEfaSupport" in args or "enableIMDSv2" in args):
        kept |= {"launchTemplate": args["launchTemplate"]} if "launchTemplate" in args else {}
        kept |= {"diskSize": args["diskSize"]} if "diskSize" in args else {}
        return [Declared(EKS_NODE_GROUP, group.name, kept, group.depends)]
    template = f"{group.name}-launchTemplate"
    kept["launchTemplate"] = {"id": f"{template}-id", "version": "1"}
    nodes = Declared(EKS_NODE_GROUP, group.name, kept, {"launchTemplate": [template]})
    props = {"id": f"{template}-id", **_template(args)}
    if not args.get("enableEfaSupport"):
        return [Declared(LAUNCH_TEMPLATE, template, props), nodes]
    group_id = f"{group.name}-group"
    together = Declared(PLACEMENT_GROUP, group.name, {"id": group_id, "strategy": "cluster"})
    props["placement"] = {"groupName": group_id}
    depends = {"placement": [together.name]}
    return [together, Declared(LAUNCH_TEMPLATE, template, props, depends), nodes]


def _template(args: Mapping[str, Any]) -> dict[str, Any]:
    props: dict[str, Any] = {}
    if "diskSize" in args:
        volume = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": args["diskSize"]}}
        props["blockDeviceMappings"] = [volume]
    if "enableIMDSv2" in args:
        tokens = "required" if args["enableIMDSv2"] else "optional"
        props["metadataOptions"] = {"httpTokens": tokens, "httpPutResponseHopLimit": 2}
    if args.get("enableEfaSupport"):
        # One interface for each card; the group is that of the cluster, which EKS creates.
        cards = len(INSTANCE_TYPES[args["instanceTypes"][0]].network_cards)
        props["networkInterfaces"] = [
            {
                "networkCardIndex": card,
                "deviceIndex": 0 if card == 0 else 1,
                "interfaceType": "efa" if card == 0 else "efa-only",
                "securityGroups": ["sg-0123456789abcdef0"],
            }
            for card in range(cards)
        ]
    return props
