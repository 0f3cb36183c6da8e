"""Checks of the Kubernetes objects that an update applies: the claims, and those of the add-ons.

Each of them is accepted by the API server, or refused when the cluster has already been created.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.catalog.kueue import KUEUE_GROUP
from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.problems import ROOT, Problem, Review, set_command
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS, addon_target
from trainyard.components.eks.plan import EksPlan
from trainyard.components.runtime.workload_plan import Manifest, WorkloadPlan
from trainyard.components.storage.storage_plan import FsxLustrePlan

NAMESPACES_OF_KUBERNETES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces"""

_OF_EVERY_FILE_SYSTEM = frozenset(
    {
        *("async", "atime", "auto", "context", "defaults", "dev", "diratime", "dirsync", "exec"),
        *("group", "iversion", "lazytime", "loud", "nofail", "noatime", "noauto", "nodev"),
        *("nodiratime", "noexec", "noiversion", "nolazytime", "norelatime", "nostrictatime"),
        *("nosuid", "nouser", "owner", "relatime", "remount", "ro", "rw", "silent", "strictatime"),
        *("suid", "sync", "user", "users", "_netdev", "fscontext", "defcontext", "rootcontext"),
    }
)
"""https://man7.org/linux/man-pages/man8/mount.8.html, "Filesystem-independent mount options"."""
_OF_LUSTRE = frozenset(
    {
        *("acl", "noacl", "always_ping", "checksum", "nochecksum", "encrypt", "noencrypt"),
        *("exclude", "flock", "noflock", "localflock", "foreign_symlink", "lazystatfs"),
        *("nolazystatfs", "lruresize", "nolruresize", "mgsnode", "mgssec", "network", "retry"),
        *("skpath", "statfs_project", "nostatfs_project", "test_dummy_encryption"),
        *("user_fid2path", "nouser_fid2path", "user_xattr", "nouser_xattr", "verbose", "noverbose"),
    }
)
"""Options of a client: https://git.whamcloud.com/fs/lustre-release.git, `lustre/doc/mount.lustre.8`
and the table `ll_sbi_flags_name` and `ll_options` in `lustre/llite`."""
_OF_OTHERS: Mapping[str, frozenset[str]] = {
    "EFS": frozenset(
        {
            *("accesspoint", "awscredsuri", "awsprofile", "az", "iam", "mounttargetip", "netns"),
            *("notls", "ocsp", "stunnel_loglevel", "tls"),
        }
    ),
    "NFS": frozenset(
        {
            *("actimeo", "bg", "fg", "hard", "intr", "lock", "lookupcache", "minorversion"),
            *("nconnect", "nfsvers", "noac", "nolock", "noresvport", "proto", "retrans", "rsize"),
            *("sec", "soft", "tcp", "timeo", "vers", "wsize"),
        }
    ),
    "a local file system": frozenset(
        {
            *("barrier", "commit", "data", "discard", "errors", "inode", "largeio", "logbsize"),
            *("logbufs", "nobarrier", "nouuid", "swalloc"),
        }
    ),
}
"""Options of other file systems that are copied into claims: mount.efs(8), nfs(5), ext4(5), xfs(5).
"""
_COLLECTORS = {"dcgm-exporter": "NVIDIA GPUs", "neuron-monitor": "Neuron devices"}
"""Add-ons of the stack that read the counters of a device, of which CloudWatch Observability brings
its own: https://github.com/aws-observability/helm-charts, `dcgm-exporter-daemonset.yaml` and
`neuron-monitor-daemonset.yaml` in the chart `amazon-cloudwatch-observability`."""


def review_claims(
    config: EksStackConfig,
    file_systems: Iterable[FsxLustrePlan],
    review: Review,
    *,
    is_account_known: bool,
) -> None:
    """Refuse claims that no pod can mount, and note those that a new cluster would refuse.

    Args:
        config: The stack file.
        file_systems: The planned file systems.
        review: The problems.
        is_account_known: Whether the account says if the cluster exists, which can have namespaces
            of its own: `namespace_problems`.
    """
    for each in file_systems:
        _review_options(each.name, each.claim.mount_options, review)
        if not is_account_known:
            for problem in _without_namespace(each, config, stack_file=review.stack_file):
                review.note(f"storage.{each.name}.claim_namespace {problem.problem}")


def namespace_problems(
    config: EksStackConfig,
    file_systems: Iterable[FsxLustrePlan],
    *,
    stack_file: str,
) -> Iterator[Problem]:
    """Yield the claims in namespaces that a new cluster does not have."""
    for each in file_systems:
        yield from _without_namespace(each, config, stack_file=stack_file)


def _without_namespace(
    file_system: FsxLustrePlan, config: EksStackConfig, *, stack_file: str
) -> Iterator[Problem]:
    namespace = file_system.claim.namespace
    made = _made_namespaces(config)
    if namespace not in made:
        key = f"{ROOT}.storage.{file_system.name}.claim_namespace"
        yield Problem(
            path=key,
            problem=f"is {namespace}, a namespace that nobody makes in a new cluster, so that the "
            f'claim fails there with `namespaces "{namespace}" not found`',
            found=namespace,
            allowed=", ".join(sorted(made)),
            remedy=set_command(key, "default", stack_file=stack_file),
        )


def _made_namespaces(config: EksStackConfig) -> frozenset[str]:
    addons = config.architecture.addons
    own = {f"{name}-system" for name in ("kueue", "jobset") if getattr(addons, name)}
    insights = {"amazon-cloudwatch"} if config.uses_cloudwatch_observability else set[str]()
    return NAMESPACES_OF_KUBERNETES | own | insights


def _review_options(name: str, options: Sequence[str], review: Review) -> None:
    known = _OF_EVERY_FILE_SYSTEM | _OF_LUSTRE
    wrong = [each for each in options if each.partition("=")[0] not in known]
    if not wrong:
        return
    key = f"storage.{name}.mount_options"
    # From the last one on, so that the numbers of the others stay as they are.
    places = [f"{key}[{number}]" for number, each in enumerate(options) if each in wrong]
    every = [key] if len(wrong) == len(options) else reversed(places)
    review.refuse(
        key,
        f"has {', '.join(map(_described, wrong))}; a Lustre client refuses to mount with it, and "
        "no pod that uses the claim starts",
        found=", ".join(options),
        allowed=", ".join(sorted(_OF_LUSTRE)) + ", and those of every file system, such as ro",
        remedy=" and ".join(map(review.remove_command, every)),
    )


def _described(option: str) -> str:
    plain = option.partition("=")[0]
    other = next((system for system, every in _OF_OTHERS.items() if plain in every), None)
    return f"`{option}`, an option of {other}" if other else f"`{option}`, which Lustre has not"


def review_collectors(config: EksStackConfig, plan: EksPlan, review: Review) -> None:
    """Refuse two collectors of one device on the same nodes.

    The counters for profiling belong to one client of the driver at a time, and each metric would
    exist twice: https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html
    """
    if not config.uses_cloudwatch_observability:
        return
    twice = [device for addon, device in _COLLECTORS.items() if addon in plan.self_managed_addons]
    if not twice:
        return
    key = "architecture.addons.cloudwatch_observability"
    review.refuse(
        key,
        f"installs a second collector of {' and '.join(twice)} beside the exporters of "
        "`monitoring.node_metrics: prometheus`: both read the same counters, which the driver "
        "gives to one of them",
        found=True,
        allowed="false, or `monitoring.node_metrics: cloudwatch`",
        remedy=review.set_command(key, "false"),
    )


def review_manifests(plan: EksPlan, review: Review) -> None:
    """Refuse objects of the add-ons that are applied and never do their work."""
    for name in plan.self_managed_addons:
        addon = SELF_MANAGED_ADDONS[name]
        for workload in addon.workloads(addon_target(plan, addon)):
            for manifest in _objects(workload):
                _review_quota(plan, manifest, review)


def _objects(workload: WorkloadPlan) -> Iterator[Manifest]:
    yield from workload.objects_before
    yield workload.controller
    yield from workload.objects_after


def _review_quota(plan: EksPlan, manifest: Manifest, review: Review) -> None:
    """Refuse a queue without a quota of any accelerator: it never starts a job.

    https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#resource-groups
    """
    if manifest["kind"] != "ClusterQueue" or not manifest["apiVersion"].startswith(KUEUE_GROUP):
        return
    devices = _device_quotas(manifest)
    if any(quota != "0" for quotas in devices.values() for quota in quotas):
        return
    empty = [each for each in plan.node_groups if each.instance_type.accelerators]
    if not devices or not empty:
        return
    key = f"architecture.node_groups.{empty[0].pool}.desired"
    review.refuse(
        key,
        "leaves the queue of Kueue without a quota: it counts the planned nodes, and starts no job "
        f"that asks for {', '.join(sorted(devices))}",
        found=0,
        allowed="1 or more, at least in one node group with accelerators",
        remedy=f"{review.set_command(key, '1')}; or do without the queue: "
        f"{review.set_command('architecture.addons.kueue', 'false')}",
    )


def _device_quotas(queue: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the quotas of each extended resource of a queue; their names have a domain."""
    quotas: dict[str, list[str]] = defaultdict(list)
    for group in queue["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                if "/" in resource["name"]:
                    quotas[resource["name"]].append(resource["nominalQuota"])
    return dict(quotas)
