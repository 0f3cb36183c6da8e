"""The stack file that a conversion writes, with the source of every key.

Keys that several formats have in common, such as add-ons of EKS, are written here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION
from trainyard.components.config.monitoring import GroupRetentionDays
from trainyard.components.eks.addon_review import addon_version_fault
from trainyard.importing.report import Reader, whole
from trainyard.importing.source import Document, Location, id_for, is_id, is_placeholder

_ONLY_YOU = "is not the id of an object; set the id in the stack file, as `check` says"


@dataclass(slots=True)
class Draft:
    """A section of the stack file below `trainyard:cluster`."""

    values: dict[str, Any]
    at: Location
    unknown: dict[Location, Any]
    """Keys whose values only the user knows, with an example of a value."""

    def section(self, key: str, source: Reader | None = None) -> Draft:
        """Return the section at a key, which is created; `source` is where it comes from."""
        below = Draft(self.values.setdefault(key, {}), (*self.at, key), self.unknown)
        if source is not None:
            source.report.origins.setdefault(below.at, source.location)
        return below

    def has(self, key: str) -> bool:
        """Return whether a key has a value."""
        return key in self.values

    def put(self, key: str, value: Any) -> None:
        """Set a key that has no field in the source."""
        self.values[key] = value

    def take(
        self,
        key: str,
        source: Reader,
        *,
        change: Callable[[Any], Any] | None = None,
        why: str = "",
    ) -> bool:
        """Set a key to the value of the source, and return whether there is one.

        Args:
            key: Key of the section.
            source: Place of the value.
            change: Changes the value into that of the stack file.
            why: What the reader of the report has to know.
        """
        if not source.exists:
            return False
        self.values[key] = change(source.value) if change else source.value
        source.claim("taken over", why, ours=(*self.at, key))
        return True

    def take_flag(self, key: str, source: Reader) -> None:
        """Set a key to the boolean of the source, if there is one."""
        self.take(key, source, change=lambda _: source.flag)

    def better(self, key: str, source: Reader, value: Any, why: str, *, rule: str = "") -> None:
        """Set a key to a value that works better than that of the source."""
        if source.exists:
            self.values[key] = value
            source.claim("taken over better", why, ours=(*self.at, key), rule=rule)

    def take_id(self, key: str, source: Reader, prefix: str) -> None:
        """Set a key to an id of EC2; a placeholder of an example is left out."""
        if not source.exists:
            return
        if is_id(source.value, prefix):
            self.take(key, source)
        else:
            self.needs(key, id_for(prefix))
            source.claim("not supported", _ONLY_YOU, ours=(*self.at, key))

    def take_ids(self, key: str, sources: Sequence[Reader], prefix: str) -> None:
        """Add ids of EC2 to a list; placeholders of an example are left out."""
        for source in sources:
            source.report.origins.setdefault((*self.at, key), source.location[:-1])
            number = len(self.values.get(key, ()))
            if is_id(source.value, prefix):
                listed = self.values.setdefault(key, [])
                if source.value not in listed:
                    listed.append(source.value)
                source.claim("taken over", ours=(*self.at, key, listed.index(source.value)))
            else:
                self.needs(key, [id_for(prefix, number)])
                source.claim("not supported", _ONLY_YOU, ours=(*self.at, key))

    def needs(self, key: str, example: Any) -> None:
        """Record that only the user knows the value of a key."""
        self.unknown.setdefault((*self.at, key), example)


_NOT_IN_NAMES = re.compile(r"[^a-z0-9-]+")
_MARKS = (
    *("aws:", "alpha.eksctl.io/", "eksctl.cluster.k8s.io/", "parallelcluster:", "trainyard:"),
    "terraform-aws-modules",
)
"""Beginnings of tags that AWS, eksctl, ParallelCluster, the EKS module or this program sets."""


def plain_name(text: str) -> str:
    """Return a text in lowercase letters, digits and hyphens, for a name in the stack file."""
    return _NOT_IN_NAMES.sub("-", text.lower()).strip("-")


@dataclass(slots=True)
class StackDraft:
    """A stack file that is being written."""

    name: str
    region: str = ""
    """Region of the stack; empty if the source does not name one."""
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """What will be below `trainyard:cluster`."""
    unknown: dict[Location, Any] = field(default_factory=dict[Location, Any])
    own: set[Location] = field(default_factory=lambda: {("name",)})
    """Keys whose problems are those of the stack alone, such as the limits of its names."""
    parameters: Sequence[Document] = ()
    """Files with values of parameters of the source."""
    guess: bool = False
    """Truth of conditions that depend on values that are not known."""

    @property
    def cluster(self) -> Draft:
        """The section `trainyard:cluster` itself."""
        return Draft(self.values, (), self.unknown)

    def take_tag(self, key: str, value: Any, source: Reader) -> None:
        """Set a tag of the stack, unless a tool set it, or it is the name of one object."""
        if key == "Name" or key.startswith(_MARKS):
            source.dropped("it is of the tool that created the cluster, or names one object")
        else:
            self.cluster.section("tags").take(key, source, change=lambda _: value)

    def claim_name(self, source: Reader) -> None:
        """Record what becomes of the name of the cluster, which the command can override."""
        if source.value == self.name:
            source.claim("taken over", ours=("name",))
        elif plain_name(str(source.value)).startswith(self.name):
            why = "names have letters, digits and hyphens, and a length that others fit in"
            source.claim("taken over better", why, ours=("name",))
        else:
            source.unsupported(f"the command gives the cluster the name {self.name}")

    def take_region(self, source: Reader) -> None:
        """Set the region to that of the source, if there is one; a placeholder is left out."""
        if is_placeholder(source.value):
            source.unsupported("it is a placeholder: set `aws:region` of the stack file")
        elif source.exists:
            self.region = str(source.value)
            source.claim("taken over", "it is `aws:region` of the stack file")

    def forget(self, key: str) -> None:
        """Remove a section, with what only the user knows of it."""
        del self.values[key]
        for at in [each for each in self.unknown if each[0] == key]:
            del self.unknown[at]

    def needs_network(self) -> None:
        """Record that only the user knows the network, of which the source has nothing."""
        zone = f"{self.region or 'us-east-1'}a"
        self.cluster.needs("network", {"kind": "new-vpc", "availability_zones": [zone]})

    def completed(self) -> dict[str, Any]:
        """Return the configuration with an example in the place of each unknown value.

        The rest can then be checked without an account.
        """
        result = _copy(self.values)
        for (*parents, key), example in self.unknown.items():
            section = result
            for part in parents:
                section = section.setdefault(part, {})
            if is_placeholder(section.get(key)):
                section[key] = example
            section.setdefault(key, example)
        return result


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def reservation_of(cluster: Draft, *places: Reader) -> str | None:
    """Return the name of the reservation in the stack file that has the value of a place."""
    wanted = {str(each.value) for each in places if each.exists and not is_placeholder(each.value)}
    for name, each in cluster.values.get("reservations", {}).items():
        if wanted & {str(each.get(key)) for key in ("reservation_id", "group_arn")}:
            return str(name)
    return None


def take_retention(architecture: Draft, source: Reader) -> None:
    """Set `log_retention_days` to a number of days, if CloudWatch Logs has this retention."""
    days = whole(source)
    if days in get_args(GroupRetentionDays):
        architecture.take("log_retention_days", source, change=lambda _: days)


def claim_market(market: Reader, *, ours: Location) -> None:
    """Record what becomes of a market type.

    Args:
        market: The market type.
        ours: The key of the stack file that it follows from.
    """
    if market.value == "interruptible-capacity-reservation":
        market.unsupported(
            "stacks do not launch into interruptible reservations: set the id of another one"
        )
    else:
        market.claim("taken over", ours=ours)


_KEYS: Mapping[str, str] = {
    "eks-pod-identity-agent": "pod_identity_agent",
    "aws-ebs-csi-driver": "ebs_csi_driver",
    "aws-fsx-csi-driver": "fsx_csi_driver",
    "eks-node-monitoring-agent": "node_monitoring_agent",
    "amazon-cloudwatch-observability": "cloudwatch_observability",
}
"""Key of the stack file by the name of the add-on."""
_ALWAYS = ("vpc-cni", "kube-proxy", "coredns")
_VERSION = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")


def take_addon(
    name: str, addon: Reader, *, named: Reader, version: Reader, architecture: Draft
) -> bool:
    """Read an add-on of the source, and return whether a stack can have it.

    Args:
        name: Its name.
        addon: Its entry.
        named: The field of the source by which the report names it.
        version: Its version.
        architecture: The section of the stack file with the add-ons.
    """
    if name in _KEYS:
        addons = architecture.section("addons", addon)
        addons.put(_KEYS[name], value=True)
        named.claim("taken over", ours=(*addons.at, _KEYS[name]))
    elif name in _ALWAYS:
        named.implied("it is always installed")
    else:
        addon.unsupported(
            f"install it after `up`: `aws eks create-addon --cluster-name CLUSTER --addon-name "
            f"{name}`"
        )
        return False
    if _VERSION.fullmatch(str(version.value)):
        cluster_version = architecture.values.get("kubernetes_version", DEFAULT_KUBERNETES_VERSION)
        fault = addon_version_fault(name, str(version.value), str(cluster_version), efa_only=True)
        if fault is None:
            architecture.section("addons").section("versions").take(name, version)
        else:
            rule = "A17" if name == "vpc-cni" else ""
            why = f"it {fault[0]}; the stack pins a version that it was tested with"
            version.claim("taken over better", why, rule=rule)
    version.implied("the stack pins a version that it was tested with")
    return True


def take_repair(enabled: Reader, nodes: Draft, architecture: Draft, *, rule: str) -> None:
    """Read the node auto repair of a managed node group, which has no effect without the agent.

    Args:
        enabled: Whether the source turns it on; it does.
        nodes: The node group.
        architecture: The section with the add-ons, which are read before.
        rule: Rule of the finding that the agent is missing.
    """
    addons = architecture.section("addons")
    if addons.has("node_monitoring_agent"):
        nodes.take_flag("auto_repair", enabled)
        return
    addons.put("node_monitoring_agent", value=True)
    why = (
        "EKS sees faults of GPUs, EFA and the kernel only with the add-on "
        "eks-node-monitoring-agent, which is missing; the stack installs it"
    )
    nodes.better("auto_repair", enabled, value=True, why=why, rule=rule)
