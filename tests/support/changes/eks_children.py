"""The children of `eks:index:Cluster`, which pulumi-eks registers and programs do not.

They are the children that the sandbox's stand-in registers, which is tested against recordings of
the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pulumi

from tests.support.changes.run import Key, by_key, run_program
from tests.support.cloud import Cloud, Registered
from tests.support.provider_answers import CONTROL_PLANE
from trainyard.sandbox.providers.eks.cluster import Cluster

CLUSTER = "eks:index:Cluster"
_IDENTITIES = [{"oidcs": [{"issuer": "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789"}]}]


class _EksCloud(Cloud):
    """Answers for a control plane like EKS."""

    def __init__(self) -> None:
        super().__init__(None)
        plain = self.mocks.new_resource

        def answered(args: Any) -> tuple[str, dict[str, Any]]:
            if args.typ == CLUSTER:
                return "", {}
            identifier, state = plain(args)
            if args.typ == "aws:eks/cluster:Cluster":
                network = {"clusterSecurityGroupId": "sg-0", "vpcId": "vpc-0"}
                mine = {
                    k: v for k, v in CONTROL_PLANE.items() if k not in ("id", "name", "version")
                }
                state |= mine | {"identities": _IDENTITIES}
                state["vpcConfig"] = {**state["vpcConfig"], **network}
            return identifier, state

        self.mocks.new_resource = answered


def children(component: Registered) -> Mapping[Key, Registered]:
    """Return the resources that the package registers for a cluster, by type and name."""
    return _children(component.name, json.dumps(component.inputs, sort_keys=True))


@lru_cache(maxsize=64)
def _children(name: str, arguments: str) -> Mapping[Key, Registered]:
    def program() -> None:
        Cluster(name, json.loads(arguments), pulumi.ResourceOptions())

    made = by_key(run_program(program, "children", _EksCloud()))
    return {key: each for key, each in made.items() if each.type != CLUSTER}
