"""A self-managed add-on on its own, for tests of its workloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from tests.support.kubernetes import DEFAULT
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.runtime.addon_workloads import AddonWorkloads, AddonWorkloadsArgs


def program_of(name: str, addon: SelfManagedAddon, **changes: Any) -> Callable[[], None]:
    """Return a program that installs an add-on after the resource `nodes`, in `cluster`."""
    target = {
        "region": "us-west-2",
        "kubernetes_version": DEFAULT,
        "instance_types": ["p5.48xlarge"],
        "taints": [],
        **changes,
    }

    def program() -> None:
        args = AddonWorkloadsArgs(
            component=addon.component,
            provider=kubernetes.Provider("cluster", kubeconfig="{}"),
            workloads=addon.workloads(AddonTarget(**target)),
            install_after=[aws.ec2.SecurityGroup("nodes")],
        )
        AddonWorkloads(name, args)

    return program
