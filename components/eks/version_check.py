"""Checks of the versions of a cluster and its add-ons, and of changes to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from trainyard.components.account.check import Row, Subject, ok, refused, skipped, warning
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.catalog.versions import (
    EKS_VERSIONS,
    KUBELET_SKEW,
    SUPPORT_NOTICE,
    extended_support_ended,
    minor_number,
    standard_support_ended,
)
from trainyard.components.config.eks import AddonName, EksStackConfig
from trainyard.components.config.problems import (
    ROOT,
    Problem,
    remove_command,
    set_command,
    stack_of,
)
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.eks.addons.eks_managed import (
    ALWAYS_INSTALLED,
    EKS_ADDONS,
)
from trainyard.components.eks.cluster_review import (
    EXTENDED_SUPPORT_COSTS,
    next_version,
    since,
    versions_of_new_clusters,
)
from trainyard.components.eks.facts import AddonOffer, ClusterFacts, VersionFacts
from trainyard.components.eks.lookup import (
    _NONE,
    DESCRIBE_ADDON_VERSIONS,
    DESCRIBE_CLUSTER,
    DESCRIBE_UPDATE,
    DESCRIBE_VERSIONS,
    LIST_UPDATES,
    checked_versions,
)
from trainyard.components.naming import MANAGED_NODE_GROUP

SUPPORT = "EKS supports the version"


def version_rows(
    config: EksStackConfig, facts: AccountFacts, more: PreflightFacts, today: date
) -> Iterator[Row]:
    """Yield a row on whether EKS supports the Kubernetes version.

    A version that EKS no longer lists is refused for a new cluster only.
    """
    version, key = config.architecture.kubernetes_version, "architecture.kubernetes_version"
    reason = more.why_not(DESCRIBE_VERSIONS)
    if reason is not None:
        yield skipped(key, SUPPORT, reason)
        return
    found = more.kubernetes_versions.get(version)
    listed = found is not None and found.status != _NONE
    if not listed and facts.cluster is not None:
        later = f"EKS no longer supports {version}, and upgrades clusters of it"
        yield warning(key, SUPPORT, later)
    elif found is None or not listed:
        yield refused(
            SUPPORT,
            Problem(
                path=f"{ROOT}.{key}",
                found=version,
                problem="EKS makes no cluster of this version in this region",
                allowed=", ".join(
                    name for name, each in more.kubernetes_versions.items() if each.status != _NONE
                ),
                remedy="give a version that `aws eks describe-cluster-versions` lists",
            ),
        )
    else:
        yield _support(key, version, found, today)


def _support(key: str, version: str, found: VersionFacts, today: date) -> Row:
    ends = found.standard_support_ends
    if found.status == "EXTENDED_SUPPORT":
        return warning(key, SUPPORT, f"{version} is in extended support, which costs extra")
    if ends is not None and ends - today <= SUPPORT_NOTICE:
        return warning(key, SUPPORT, f"{version}: standard support ends on {ends}")
    return ok(key, SUPPORT, f"{version}" + (f", standard support until {ends}" if ends else ""))


ADDON_VERSIONS = "architecture.addons.versions"


_MOST_LISTED = 8


_UPDATE_PROGRAM = "update trainyard, which pins other versions"


def addon_version_subjects(config: EksStackConfig) -> Iterator[Subject]:
    """Yield what `addon_version_problems` checks."""
    given = config.architecture.addons.versions
    for name, version in checked_versions(config).items():
        key = f"{ADDON_VERSIONS}.{name}"
        found = version if name in given else f"{version}, which the program pins"
        yield Subject(key, "EKS offers the version", found, (DESCRIBE_ADDON_VERSIONS,))


def addon_version_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield the versions that EKS does not offer and would have to install."""
    for addon, version, offer in _not_offered(config, facts):
        if not _has_it(facts, addon, version):
            yield _problem(config, addon, version, offer, stack_file)


def addon_version_warnings(config: EksStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield versions that the cluster has and EKS no longer offers, and add-ons without a default.

    The cluster keeps an add-on that does not change. EKS has a default version of an add-on for
    each Kubernetes version that the add-on is ready for.
    """
    kubernetes_version = config.architecture.kubernetes_version
    for addon, version, offer in _not_offered(config, facts):
        if _has_it(facts, addon, version):
            yield (
                f"{ADDON_VERSIONS}.{addon}: EKS no longer offers {version} for Kubernetes "
                f"{kubernetes_version}; the cluster keeps it. To change it, set the key to one of "
                f"{_listed(offer)}, or {_UPDATE_PROGRAM}"
            )
    for addon, offer in facts.addon_offers.items():
        if offer.versions and offer.default is None:
            yield (
                f"{ADDON_VERSIONS}.{addon}: EKS has no default version of the add-on for "
                f"Kubernetes {kubernetes_version} in this region; it may not be ready for that "
                "version"
            )


def _not_offered(
    config: EksStackConfig, facts: AccountFacts
) -> Iterator[tuple[AddonName, str, AddonOffer]]:
    if not facts.could_read(DESCRIBE_ADDON_VERSIONS):
        return
    for addon, version in checked_versions(config).items():
        offer = facts.addon_offers.get(addon)
        if offer is not None and version not in offer.versions:
            yield addon, version, offer


def _has_it(facts: AccountFacts, addon: AddonName, version: str) -> bool:
    """Return whether the existing cluster has the add-on in this version, so that it is kept."""
    return facts.cluster is not None and facts.cluster.addon_versions.get(addon) == version


def _problem(
    config: EksStackConfig, addon: AddonName, version: str, offer: AddonOffer, stack_file: str
) -> Problem:
    path, given = f"{ROOT}.{ADDON_VERSIONS}.{addon}", addon in config.architecture.addons.versions
    best = offer.default or next(iter(offer.versions), None)
    if best is None:
        remedy = _without(addon, stack_file)
    elif given:
        remedy = (
            "give one of these, or install the pinned version: "
            f"{remove_command(path, stack_file=stack_file)}"
        )
    else:
        remedy = f"{set_command(path, best, stack_file=stack_file)}, or {_UPDATE_PROGRAM}"
    pinned = "" if given else ", which the program pins,"
    return Problem(
        path=path,
        found=version,
        problem=(
            f"EKS does not offer this version of {addon}{pinned} for Kubernetes "
            f"{config.architecture.kubernetes_version} in this region"
        ),
        allowed=_listed(offer),
        remedy=remedy,
    )


def _without(addon: AddonName, stack_file: str) -> str:
    """Return how to do without an add-on that EKS does not offer at all."""
    if addon in ALWAYS_INSTALLED:
        path = f"{ROOT}.architecture.kubernetes_version"
        others = ", ".join(EKS_VERSIONS)
        return f"set `{path}` to another version of {others}, or {_UPDATE_PROGRAM}"
    (key,) = (each.key for each in EKS_ADDONS if each.name == addon)
    off = set_command(f"{ROOT}.architecture.addons.{key}", "false", stack_file=stack_file)
    return f"do without it and what needs it: {off}, or {_UPDATE_PROGRAM}"


def _listed(offer: AddonOffer) -> str:
    """Return the newest versions and the default version."""
    shown = list(offer.versions[:_MOST_LISTED])
    if offer.default is not None and offer.default not in shown:
        shown.append(offer.default)
    named = [
        f"{version} (the default)" if version == offer.default else version for version in shown
    ]
    more = len(offer.versions) - len(shown)
    return ", ".join(named) + (f" and {more} older" if more > 0 else "") or "none"


# Checks of changes to the Kubernetes version and KMS key of an existing cluster.
#
# Changes that EKS does not support, or for which the provider would replace the cluster, are
# refused before any resource is registered, with the commands to use instead.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
#     https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html, which is
#     `latest/ug/clusters/rollback-cluster.adoc` in awsdocs/amazon-eks-user-guide at 2471175. It
#     has managed node groups go back with UpdateNodegroupVersion, whose API reference in botocore
#     1.44.8 still says that they cannot.
#     https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
#     https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html


VERSION_PATH = f"{ROOT}.architecture.kubernetes_version"


KEY_PATH = f"{ROOT}.architecture.secrets_key_arn"


ROLLBACK_WINDOW = timedelta(days=7)
"""How long after an upgrade EKS takes a cluster back to the previous minor version.

EKS counts from the end of the upgrade; its updates only tell when they began, some minutes before.
"""


def version_subject(facts: AccountFacts) -> Subject:
    """Return what `version_problems` checks."""
    cluster = facts.cluster
    found = (
        f"{cluster.name} is {cluster.status} at {cluster.kubernetes_version}"
        if cluster
        else "no cluster of this name yet"
    )
    asked = "the cluster can get to the version"
    return Subject("architecture.kubernetes_version", asked, found, (DESCRIBE_CLUSTER,))


def version_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str, now: datetime
) -> Iterator[Problem]:
    """Yield why the cluster cannot be created, or cannot change as the stack file requires.

    A date refuses only what does not exist yet: EKS keeps a cluster running when the standard
    support of its version ends.
    """
    cluster = facts.cluster
    if cluster is None:
        if facts.could_read(DESCRIBE_CLUSTER):
            yield from _out_of_support(config, now.date(), stack_file)
        return
    steps = _steps(config, cluster)
    if steps < 0:
        readable = facts.could_read(LIST_UPDATES) and facts.could_read(DESCRIBE_UPDATE)
        yield from _rollback_problems(config, cluster, now if readable else None, stack_file)
    elif steps > 1:
        yield _skipped(config, cluster, stack_file)
    elif steps == 1:
        yield from _nodes_behind(config, cluster, stack_file)
    if steps in {0, 1}:
        yield from _running_blocks(config, cluster, stack_file)
    yield from _key_problems(config, cluster, stack_file)


def version_warnings(config: EksStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield changes that cannot be undone."""
    cluster = facts.cluster
    if cluster is None:
        return
    wanted = config.architecture.kubernetes_version
    if _steps(config, cluster) == 1:
        unmanaged = _self_managed(config)
        kept = (
            f" Nodes of {', '.join(unmanaged)} that run stay at {cluster.kubernetes_version}; "
            "replace them when their work is done (docs/upgrades.md)."
            if unmanaged
            else ""
        )
        yield (
            f"the cluster {cluster.name} goes from Kubernetes {cluster.kubernetes_version} to "
            f"{wanted}, which cannot be stopped: first the control plane, then kube-proxy and the "
            "VPC CNI, then the managed node groups, then CoreDNS. For seven days, EKS takes it "
            f"back (docs/upgrades.md).{kept}"
        )
    elif _steps(config, cluster) == -1:
        yield (
            f"the cluster {cluster.name} goes back from Kubernetes {cluster.kubernetes_version} to "
            f"{wanted}. EKS refuses that while a node or add-on is newer than {wanted}"
            f"{_replaced(_self_managed(config))}; `aws eks list-insights --cluster-name "
            f"{cluster.name} --filter categories=ROLLBACK_READINESS` lists what it found"
        )
    if config.architecture.secrets_key_arn and cluster.secrets_key_arn is None:
        yield (
            f"the secrets of cluster {cluster.name} will be encrypted with "
            f"{config.architecture.secrets_key_arn}; the key can never be changed or removed, and "
            "without the key the cluster is lost"
        )


def _steps(config: EksStackConfig, cluster: ClusterFacts) -> int:
    """Return the number of minor versions to upgrade."""
    wanted = config.architecture.kubernetes_version
    return minor_number(wanted) - minor_number(cluster.kubernetes_version)


def _out_of_support(config: EksStackConfig, today: date, stack_file: str) -> Iterator[Problem]:
    version = config.architecture.kubernetes_version
    if not standard_support_ended(version, today):
        return
    allowed = versions_of_new_clusters(today)
    way = (
        set_command(VERSION_PATH, allowed[0], stack_file=stack_file)
        if allowed
        else "use a release of this program that pins a newer version"
    )
    extended = (
        "its extended support has ended too, and EKS makes no cluster of it"
        if extended_support_ended(version, today)
        else f"extended support costs {EXTENDED_SUPPORT_COSTS} and ends with a forced upgrade"
    )
    yield Problem(
        path=VERSION_PATH,
        found=version,
        problem=(
            f"has been out of EKS's standard support{since(version)}, and the cluster does not "
            f"exist yet; {extended}"
        ),
        allowed=", ".join(allowed) or None,
        remedy=way,
        rules=("H5",),
    )


def _rollback_problems(
    config: EksStackConfig, cluster: ClusterFacts, now: datetime | None, stack_file: str
) -> Iterator[Problem]:
    """Yield why EKS does not take the cluster back, or what has to go back before it.

    `now` is None if the updates cannot be read, so that only EKS knows when its window ends.
    """
    current, wanted = cluster.kubernetes_version, config.architecture.kubernetes_version
    until = cluster.upgraded_at and cluster.upgraded_at + ROLLBACK_WINDOW
    window = f"until {until:%Y-%m-%d %H:%M} UTC" if until else "within seven days"
    if _steps(config, cluster) < -1:
        yield _no_way_back(config, cluster, "one minor version only", stack_file)
    elif now is not None and until is None:
        found = f"within seven days of an upgrade, and none to {current} is recorded"
        yield _no_way_back(config, cluster, found, stack_file)
    elif now is not None and until is not None and now >= until:
        yield _no_way_back(config, cluster, f"only {window}, seven days after", stack_file)
    elif steps := _steps_before_rollback(config, cluster, now):
        again = set_command(VERSION_PATH, wanted, stack_file=stack_file)
        refresh = f"`./trainyard refresh {stack_of(stack_file) or config.name}`"
        yield Problem(
            path=VERSION_PATH,
            found=wanted,
            problem=(
                f"the cluster {cluster.name} runs Kubernetes {current}; EKS takes it back to "
                f"{wanted} {window}, when its nodes and kube-proxy are no newer than that"
            ),
            allowed=_allowed(current),
            remedy=(
                f"{'; then '.join(steps)}; then {refresh}, {again} and `up`, "
                "which takes back the control plane and the other add-ons"
            ),
        )


def _steps_before_rollback(
    config: EksStackConfig, cluster: ClusterFacts, now: datetime | None
) -> list[str]:
    """Return what has to be done before the control plane goes back, in order."""
    wanted, name = config.architecture.kubernetes_version, cluster.name
    steps: list[str] = []
    ended = now is not None and standard_support_ended(wanted, now.date())
    if ended and cluster.support_type != "EXTENDED":
        steps.append(
            f"aws eks update-cluster-config --name {name} --upgrade-policy supportType=EXTENDED"
        )
    newer = [
        group
        for group, version in cluster.node_group_versions.items()
        if minor_number(version) > minor_number(wanted)
    ]
    for group in newer:
        if _holds_block(config, cluster, group):
            steps.append(f"set the size of {group} to 0, which holds a Capacity Block, and `up`")
        command = f"{_update_node_group(cluster, group)} --kubernetes-version {wanted}"
        if _is_ours(group, config):
            command += f" --release-version {EKS_VERSIONS[wanted].ami_release_version}"
        steps.append(command)
    kube_proxy = cluster.addon_versions.get("kube-proxy")
    if kube_proxy is not None and minor_number(kube_proxy) > minor_number(wanted):
        steps.append(
            f"aws eks update-addon --cluster-name {name} --addon-name kube-proxy --addon-version "
            f"{EKS_VERSIONS[wanted].kube_proxy}"
        )
    return steps


def _no_way_back(
    config: EksStackConfig, cluster: ClusterFacts, limit: str, stack_file: str
) -> Problem:
    current = cluster.kubernetes_version
    return Problem(
        path=VERSION_PATH,
        found=config.architecture.kubernetes_version,
        problem=(
            f"the cluster {cluster.name} runs Kubernetes {current}; EKS takes a cluster back to an "
            f"older version {limit}"
        ),
        allowed=_allowed(current),
        remedy=f"{set_command(VERSION_PATH, current, stack_file=stack_file)}, or a cluster of "
        "another name for the older version",
    )


def _allowed(current: str) -> str | None:
    """Return the versions that a stack of an existing cluster can have, or None."""
    following = next_version(current)
    can = [current] if current in EKS_VERSIONS else []
    if following is not None and following == _next(current):
        can.append(following)
    return ", or ".join(can) or None


def _skipped(config: EksStackConfig, cluster: ClusterFacts, stack_file: str) -> Problem:
    current, wanted = cluster.kubernetes_version, config.architecture.kubernetes_version
    way = [current]
    while way[-1] != wanted:
        way.append(_next(way[-1]))
    steps = "; then ".join(_step(version, cluster, stack_file) for version in way[1:])
    return Problem(
        path=VERSION_PATH,
        found=wanted,
        problem=(
            f"the cluster {cluster.name} runs Kubernetes {current}, {len(way) - 1} minor versions "
            "away; EKS takes one at a time, and the nodes have to follow before the next"
        ),
        allowed=_allowed(current),
        remedy=steps,
    )


def _step(version: str, cluster: ClusterFacts, stack_file: str) -> str:
    """Return the commands that upgrade cluster and nodes by one version."""
    if version in EKS_VERSIONS:
        return f"{set_command(VERSION_PATH, version, stack_file=stack_file)} and `up`"
    groups = "".join(f" && {_update_node_group(cluster, g)}" for g in cluster.node_group_versions)
    return (
        f"aws eks update-cluster-version --name {cluster.name} --kubernetes-version {version}, "
        "and when the cluster is ACTIVE again, its add-ons and nodes"
        f"{f': {groups[4:]}' if groups else ''}"
    )


def _nodes_behind(
    config: EksStackConfig, cluster: ClusterFacts, stack_file: str
) -> Iterator[Problem]:
    current, wanted = cluster.kubernetes_version, config.architecture.kubernetes_version
    behind = {
        name: version
        for name, version in cluster.node_group_versions.items()
        if minor_number(version) < minor_number(current)
    }
    if not behind:
        return
    furthest = max(minor_number(wanted) - minor_number(version) for version in behind.values())
    why = (
        f"; a kubelet may be at most {KUBELET_SKEW} minor versions behind the API server"
        if furthest > KUBELET_SKEW
        else ""
    )
    foreign = [name for name in behind if not _is_ours(name, config)]
    commands = [_update_node_group(cluster, name) for name in foreign]
    if len(foreign) < len(behind):
        same = set_command(VERSION_PATH, current, stack_file=stack_file)
        commands.append(f"{same} and `up`, which updates the node groups of this stack")
    again = set_command(VERSION_PATH, wanted, stack_file=stack_file)
    yield Problem(
        path=VERSION_PATH,
        found=wanted,
        problem=(
            f"node groups of {cluster.name} are behind its control plane ({current}) and must "
            f"follow before it goes to {wanted}: "
            f"{', '.join(f'{name} ({version})' for name, version in behind.items())}{why}"
        ),
        allowed=current,
        remedy=f"{'; '.join(commands)}; then {again} and `up`",
    )


def _holds_block(config: EksStackConfig, cluster: ClusterFacts, node_group: str) -> bool:
    """Return whether a managed node group has nodes in a Capacity Block."""
    return cluster.node_group_sizes.get(node_group, 0) > 0 and any(
        node_group.startswith(_prefix(config, name))
        and isinstance(config.reservations.get(group.purchase_option), CapacityBlock)
        for name, group in config.architecture.node_groups.items()
    )


def _replaced(unmanaged: Sequence[str]) -> str:
    if not unmanaged:
        return ""
    return f", such as a node of {', '.join(unmanaged)} that has launched since the upgrade"


def _running_blocks(
    config: EksStackConfig, cluster: ClusterFacts, stack_file: str
) -> Iterator[Problem]:
    """Yield managed node groups with Capacity Blocks that would be updated while they run."""
    wanted = config.architecture.kubernetes_version
    for name, group in config.architecture.node_groups.items():
        block = isinstance(config.reservations.get(group.purchase_option), CapacityBlock)
        if not block or group.management != "managed":
            continue
        running = [
            (found, cluster.node_group_sizes.get(found, 0))
            for found, version in cluster.node_group_versions.items()
            if found.startswith(_prefix(config, name)) and version != wanted
        ]
        size = max((size for _, size in running), default=0)
        if size == 0:
            continue
        path = f"{ROOT}.architecture.node_groups.{group.pool_named(name)}"
        none, back = (
            " and ".join(
                set_command(f"{path}.{key}", str(value), stack_file=stack_file)
                for key, value in sizes.items()
            )
            for sizes in (
                {"minimum": 0, "desired": 0},
                {"minimum": group.minimum, "desired": group.desired},
            )
        )
        same = set_command(VERSION_PATH, cluster.kubernetes_version, stack_file=stack_file)
        yield Problem(
            path=VERSION_PATH,
            found=wanted,
            problem=(
                f"node group {name} holds {size} nodes of a Capacity Block; EKS updates such a "
                "group only while its desired size is 0"
            ),
            allowed=cluster.kubernetes_version,
            remedy=(
                f"when its work is done: {same}, {none}, and `up`; then "
                f"{set_command(VERSION_PATH, wanted, stack_file=stack_file)} and `up`; then {back} "
                "and `up`"
            ),
        )


def _key_problems(
    config: EksStackConfig, cluster: ClusterFacts, stack_file: str
) -> Iterator[Problem]:
    current, wanted = cluster.secrets_key_arn, config.architecture.secrets_key_arn
    if current is None or current == wanted:
        return
    yield Problem(
        path=KEY_PATH,
        found=wanted or "no key",
        problem=(
            f"the secrets of cluster {cluster.name} are encrypted with {current}, for good: EKS "
            "neither changes nor removes the key, and the cluster would be replaced"
        ),
        allowed=current,
        remedy=set_command(KEY_PATH, current, stack_file=stack_file),
    )


def _next(version: str) -> str:
    return f"1.{minor_number(version) + 1}"


def _prefix(config: EksStackConfig, group: str) -> str:
    """Return the prefix of the EKS node group names of a node group."""
    return f"{config.name}-{group}{MANAGED_NODE_GROUP}"


def _is_ours(node_group: str, config: EksStackConfig) -> bool:
    ours = ("system", *config.architecture.node_groups)
    return any(node_group.startswith(_prefix(config, name)) for name in ours)


def _update_node_group(cluster: ClusterFacts, name: str) -> str:
    return f"aws eks update-nodegroup-version --cluster-name {cluster.name} --nodegroup-name {name}"


def _self_managed(config: EksStackConfig) -> list[str]:
    groups = config.architecture.node_groups.items()
    return [name for name, group in groups if group.management == "self-managed"]
