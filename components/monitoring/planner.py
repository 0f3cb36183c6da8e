"""Plan the dashboard and the alarms of a stack.

Reservations and file systems have metrics on every architecture; each architecture adds its own
sources. Sources of the names of metrics and events:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-cw-metrics.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from components.capacity.warnings import BlockWarning, block_warnings
from components.compute.node_pool_plan import NodePoolPlan
from components.config.monitoring import PERIOD_MINUTES, Alarms
from components.config.reservations import CapacityBlock
from components.config.stack import StackConfig
from components.monitoring.plan import (
    AgentPlan,
    AlarmPlan,
    AlarmsPlan,
    EventPlan,
    Graph,
    MessagePlan,
    Metric,
    MonitoringPlan,
    Sources,
    Subject,
)
from components.tagging import common_tags

_RESERVATIONS = "AWS/EC2CapacityReservations"
_FSX = "AWS/FSx"
_GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreSubject:
    """An FSx for Lustre file system whose id is known to the stack."""

    name: str
    """Entry of `storage`."""
    capacity_gib: int | None
    """None if the account was not queried."""
    file_system_id: str | None
    """None if the stack creates it."""


def plan_monitoring(
    config: StackConfig,
    *,
    region: str,
    now: datetime,
    pools: Sequence[NodePoolPlan],
    file_systems: Sequence[LustreSubject] = (),
    more: Sequence[Sources] = (),
    agents: Sequence[AgentPlan] = (),
) -> MonitoringPlan | None:
    """Return the dashboard and the alarms of a stack; None if its file has no `monitoring`.

    Args:
        config: The stack.
        region: Region of the stack.
        now: Current time, timezone-aware.
        pools: Its node pools.
        file_systems: Its file systems.
        more: Sources of the architecture; their graphs come first.
        agents: Configurations of the CloudWatch agent that Systems Manager adds on nodes.
    """
    wanted = config.monitoring
    if wanted is None:
        return None
    limits = limits_of(config)
    messages = tuple(_messages(config, region, now))
    sources = [
        *more,
        *_reservation_sources(config, pools, limits),
        *(_lustre_source(each, limits) for each in file_systems),
    ]
    return MonitoringPlan(
        region=region,
        tags=common_tags(config.name, config.tags),
        dashboard=wanted.dashboard,
        graphs=tuple(chain.from_iterable(each.graphs for each in sources)),
        log_metrics=tuple(chain.from_iterable(each.log_metrics for each in sources)),
        alarms=_alarms(wanted.alarms, sources, messages) if wanted.alarms else None,
        agents=tuple(agents),
        node_metrics=wanted.node_metrics,
    )


def limits_of(config: StackConfig) -> Alarms:
    """Return when alarms go off; the defaults for a stack without alarms."""
    given = config.monitoring.alarms if config.monitoring else None
    return given or Alarms.defaults()


def periods(minutes: int) -> int:
    """Return a number of minutes as a number of periods of `AlarmPlan`."""
    return minutes // PERIOD_MINUTES


def _alarms(
    wanted: Alarms, sources: Sequence[Sources], messages: tuple[MessagePlan, ...]
) -> AlarmsPlan:
    return AlarmsPlan(
        topic_arn=wanted.topic_arn,
        emails=wanted.emails,
        alarms=tuple(chain.from_iterable(each.alarms for each in sources)),
        events=tuple(chain.from_iterable(each.events for each in sources)),
        messages=messages,
    )


def _messages(config: StackConfig, region: str, now: datetime) -> Iterator[MessagePlan]:
    """Yield the warnings of the blocks that nodes use.

    One-time schedules of the past send nothing, so those whose time has come are left out.
    """
    hours = limits_of(config).block_warning_hours
    for name, block in config.used_reservations().items():
        if not isinstance(block, CapacityBlock):
            continue
        for warning in block_warnings(block, hours):
            if warning.at > now:
                yield MessagePlan(
                    name=f"{name}-ends-in-{warning.hours_before_end}-hours",
                    at=warning.at,
                    text=_warning_text(config, region, name, block, warning),
                )


def _warning_text(
    config: StackConfig, region: str, name: str, block: CapacityBlock, warning: BlockWarning
) -> str:
    hours = "hour" if warning.hours_before_end == 1 else "hours"
    drains = config.architecture.BLOCK_DRAINS
    happens = f"40 minutes before the end, {drains}. " if drains else ""
    return (
        f"Capacity Block {block.reservation_id} (reservation {name} of stack {config.name}) ends "
        f"in {warning.hours_before_end} {hours}, at {warning.ends_at:%Y-%m-%d %H:%M} UTC. {happens}"
        "EC2 begins to terminate its instances 30 minutes before the end: write a checkpoint "
        f"before. To keep the nodes, run ./trainyard capacity extend {block.reservation_id} "
        f"--region {region} --days DAYS until an hour before the end, and then ./trainyard up "
        f"{config.name}."
    )


def _reservation_sources(
    config: StackConfig, pools: Sequence[NodePoolPlan], limits: Alarms
) -> Iterator[Sources]:
    blocks: dict[str, str] = {}
    for option, users in _users(pools).items():
        ids = _ids(users[0])
        if users[0].capacity.kind == "capacity-block":
            blocks |= {each: option for each in ids if isinstance(each, str)}
        stated = config.reservations[option].instance_count
        # The stack leaves these on purpose; a group has one number for several reservations.
        spare = max((stated or 0) - sum(pool.most_nodes for pool in users), 0)
        for number, reservation_id in enumerate(ids, 1):
            name = option if len(ids) == 1 else f"{option}-{number}"
            yield _reservation_source(
                name, reservation_id, limits, spare=spare if len(ids) == 1 else 0
            )
    if blocks:
        yield Sources(events=(_block_events(blocks),))


def _users(pools: Sequence[NodePoolPlan]) -> Mapping[str, list[NodePoolPlan]]:
    users: dict[str, list[NodePoolPlan]] = {}
    for pool in sorted(pools, key=lambda pool: pool.capacity.purchase_option):
        if pool.capacity.is_reserved:
            users.setdefault(pool.capacity.purchase_option, []).append(pool)
    return users


def _ids(pool: NodePoolPlan) -> list[str | Subject]:
    """Return the ids of a pool's reservations; the members of an existing group are unknown."""
    capacity = pool.capacity
    if capacity.creation is not None:
        return [Subject(kind="reservation", name=capacity.purchase_option)]
    if capacity.reservation_group_members:
        return [member.rpartition("/")[2] for member in capacity.reservation_group_members]
    return [capacity.reservation_id] if capacity.reservation_id else []


def _reservation_source(
    name: str, reservation_id: str | Subject, limits: Alarms, *, spare: int
) -> Sources:
    def metric(metric_name: str, label: str) -> Metric:
        return Metric(
            namespace=_RESERVATIONS,
            name=metric_name,
            dimensions={"CapacityReservationId": reservation_id},
            statistic="Minimum" if metric_name.startswith("Available") else "Maximum",
            label=label,
        )

    return Sources(
        graphs=(
            Graph(
                title=f"Reservation {name}",
                metrics=(
                    metric("TotalInstanceCount", "reserved"),
                    metric("UsedInstanceCount", "running"),
                ),
                unit="instances",
            ),
        ),
        alarms=(
            AlarmPlan(
                name=f"reservation-unused-{name}",
                description=(
                    f"Instances of {_called(name, reservation_id)} have been unused for "
                    f"{limits.idle_minutes} minutes. They cost the same as used ones. Either nodes "
                    "are missing, or no job needs them."
                ),
                metric=metric("AvailableInstanceCount", "unused"),
                comparison="GreaterThanThreshold",
                threshold=spare,
                periods=periods(limits.idle_minutes),
            ),
        ),
    )


def _called(name: str, reservation_id: str | Subject) -> str:
    if isinstance(reservation_id, Subject):
        return f"reservation {name}"
    return f"{reservation_id} (reservation {name})"


def _block_events(blocks: Mapping[str, str]) -> EventPlan:
    named = ", ".join(f"{block} ({option})" for block, option in blocks.items())
    return EventPlan(
        name="capacity-block",
        description=f"Start of {named}, and the warning 40 minutes before the end",
        pattern={
            "source": ["aws.ec2"],
            # The user guide has two names for each event: `Capacity Block Reservation Delivered`
            # in its older version and `Capacity Block Delivered` in its newer one.
            "detail-type": [{"prefix": "Capacity Block"}],
            "detail": {"capacity-reservation-id": list(blocks)},
        },
    )


def _lustre_source(subject: LustreSubject, limits: Alarms) -> Sources:
    """Return the throughput and the free space of a file system.

    Each storage target sends its free space once a minute. The sum over one minute is the free
    space of the file system, the sum over a longer period a multiple of it.
    """
    where = subject.file_system_id or Subject(kind="file-system", name=subject.name)

    def metric(name: str, label: str, *, per_second: bool = False) -> Metric:
        return Metric(
            namespace=_FSX,
            name=name,
            dimensions={"FileSystemId": where},
            statistic="Sum",
            label=label,
            period_seconds=60,
            per_second=per_second,
        )

    free = metric("FreeDataStorageCapacity", "free")
    graphs = (
        Graph(
            title=f"Throughput of {subject.name}",
            metrics=(
                metric("DataReadBytes", "read", per_second=True),
                metric("DataWriteBytes", "written", per_second=True),
            ),
            unit="bytes/s",
        ),
        Graph(title=f"Free space of {subject.name}", metrics=(free,), unit="bytes"),
    )
    if subject.capacity_gib is None:
        return Sources(graphs=graphs)
    used = limits.file_system_used_percent
    full = AlarmPlan(
        name=f"file-system-full-{subject.name}",
        description=(
            f"File system {subject.name} is more than {used} % full. Writes fail when it is full: "
            "delete data, or increase `storage_capacity_gib`."
        ),
        metric=free,
        comparison="LessThanThreshold",
        threshold=subject.capacity_gib * _GIB * (100 - used) / 100,
        periods=5,
    )
    return Sources(graphs=graphs, alarms=(full,))
