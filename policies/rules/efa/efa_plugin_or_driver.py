"""EFA devices of a cluster are managed by the device plugin or by the driver, and by one only.

Why:
    The EFA device plugin and the driver for dynamic resource allocation (`aws-dranet`) each give
    out every EFA device of a node. With both, two pods get the same device, one from each, and
    the second fails. The driver needs Kubernetes 1.34, and does not run on EKS Auto Mode.
Fix:
    Remove one of the two: the driver on clusters before 1.34 and on Auto Mode, else the plugin.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.kubernetes import DRIVER, PLUGIN, EfaPlugin, plugins
from policies.resources.props import Nested, is_true
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP, EKS_CLUSTER, EKS_NODE_GROUP
from policies.rule import Config, on_stack

_FIRST_MINOR = 34


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    drivers, clusters = plugins(stack, DRIVER), list(stack.of_type(EKS_CLUSTER))
    if not drivers or len(clusters) > 1:
        return
    driver = drivers[0].resource.urn
    shared = next((each for each in plugins(stack, PLUGIN) if _share_nodes(each, drivers[0])), None)
    if shared is not None:
        yield (
            driver,
            (
                f"it gives out the EFA devices that {shared.resource.name}, the EFA device "
                "plugin, gives out too; remove one of the two, or keep them on different "
                "instance types"
            ),
        )
    for cluster in clusters:
        facts = stack.facts_of(cluster.urn)
        version = facts.needed("version")
        if isinstance(version, str) and _minor(version) < _FIRST_MINOR:
            yield (
                driver,
                (
                    f"it needs Kubernetes 1.{_FIRST_MINOR}, and cluster {cluster.name} has "
                    f"{version}; install the EFA device plugin instead"
                ),
            )
        groups = list(stack.of_type(EKS_NODE_GROUP, AUTO_SCALING_GROUP))
        if is_true(facts.get("computeConfig", "enabled")) and not groups:
            yield (
                driver,
                (
                    f"it does not run on EKS Auto Mode, and cluster {cluster.name} has no other "
                    "nodes; install the EFA device plugin instead"
                ),
            )


def _share_nodes(plugin: EfaPlugin, driver: EfaPlugin) -> bool:
    """Whether both may run on one node; not where each has a node selector of its own."""
    selectors = [_selector(each) for each in (plugin, driver)]
    return None in selectors or selectors[0] == selectors[1]


def _selector(plugin: EfaPlugin) -> Nested | None:
    paths = (("spec", "template", "spec", "nodeSelector"), ("values", "nodeSelector"))
    found = (plugin.facts.get(*path) for path in paths)
    return next((each for each in found if isinstance(each, Nested) and each), None)


def _minor(version: str) -> int:
    major, _, minor = version.partition(".")
    return int(minor) if major == "1" and minor.isdigit() else _FIRST_MINOR


POLICY = StackValidationPolicy(
    name="efa-plugin-or-driver",
    display_name="One thing manages the EFA devices of a cluster",
    description=(
        "A cluster has the EFA device plugin or the EFA driver for dynamic resource allocation, "
        "and the driver only where it runs."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "kubernetes", "A21"],
    remediation_steps="Remove the EFA device plugin or the driver.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html",
    validate=on_stack(_check),
)
