"""Either the EFA device plugin or the EFA driver manages the EFA devices of a cluster.

Why:
    The EFA device plugin and the driver for dynamic resource allocation (`aws-dranet`) both
    allocate every EFA device of a node. If both run, they can give the same device to two pods, and
    the second pod fails. The driver requires Kubernetes 1.34, and 1.36 on EKS Auto Mode, which
    includes it from that version on.
Fix:
    Remove one of the two: the driver on clusters before 1.34 and on Auto Mode before 1.36,
    otherwise the plugin.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/device-management.html,
    https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.kubernetes import DRIVER, PLUGIN, EfaPlugin, plugins
from trainyard.policies.resources.props import Nested, is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, EKS_CLUSTER, EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule

_FIRST_MINOR, _FIRST_MINOR_OF_AUTO_MODE = 34, 36


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
                f"it allocates the EFA devices that {shared.resource.name}, the EFA device "
                "plugin, also allocates; remove one of the two, or keep them on different "
                "instance types"
            ),
        )
    for cluster in clusters:
        facts = stack.facts_of(cluster.urn)
        version = facts.needed("version")
        if not isinstance(version, str):
            continue
        if _minor(version) < _FIRST_MINOR:
            yield (
                driver,
                (
                    f"it needs Kubernetes 1.{_FIRST_MINOR}, and cluster {cluster.name} has "
                    f"{version}; install the EFA device plugin instead"
                ),
            )
        groups = list(stack.of_type(EKS_NODE_GROUP, AUTO_SCALING_GROUP))
        alone = is_true(facts.get("computeConfig", "enabled")) and not groups
        if alone and _minor(version) < _FIRST_MINOR_OF_AUTO_MODE:
            yield (
                driver,
                (
                    f"it does not run on EKS Auto Mode before 1.{_FIRST_MINOR_OF_AUTO_MODE}, and "
                    f"cluster {cluster.name} with {version} has no other nodes; install the EFA "
                    "device plugin instead"
                ),
            )


def _share_nodes(plugin: EfaPlugin, driver: EfaPlugin) -> bool:
    """Whether both may run on one node: False if they have different node selectors."""
    selectors = [_selector(each) for each in (plugin, driver)]
    return None in selectors or selectors[0] == selectors[1]


def _selector(plugin: EfaPlugin) -> Nested | None:
    paths = (("spec", "template", "spec", "nodeSelector"), ("values", "nodeSelector"))
    found = (plugin.facts.get(*path) for path in paths)
    return next((each for each in found if isinstance(each, Nested) and each), None)


def _minor(version: str) -> int:
    major, _, minor = version.partition(".")
    return int(minor) if major == "1" and minor.isdigit() else _FIRST_MINOR_OF_AUTO_MODE


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "A21"],
    check=_check,
)
