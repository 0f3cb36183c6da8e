"""Plan the dashboard and the alarms of a stack.

Reservations and file systems have metrics on every architecture; each architecture adds its own
sources. Sources of the names of metrics and events:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-cw-metrics.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

from trainyard.components.capacity.schedule import minutes_before_end
from trainyard.components.capacity.timeline import BlockWarning, block_warnings
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.monitoring import PERIOD_MINUTES, Alarms
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig
from trainyard.components.monitoring.alert_rules import AlertPlan, rule_file
from trainyard.components.monitoring.lustre import LustreSubject, lustre_metrics
from trainyard.components.monitoring.plan import (
    AgentPlan,
    AlarmPlan,
    AlarmsPlan,
    EventPlan,
    Graph,
    MessagePlan,
    Metric,
    MonitoringPlan,
    RulesPlan,
    Sources,
    Subject,
)
from trainyard.components.tagging import common_tags

_RESERVATIONS = "AWS/EC2CapacityReservations"


def plan_monitoring(
    config: StackConfig,
    *,
    region: str,
    now: datetime,
    pools: Sequence[NodePoolPlan],
    file_systems: Sequence[LustreSubject] = (),
    more: Sequence[Sources],
    agents: Sequence[AgentPlan] = (),
    alerts: Sequence[AlertPlan],
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
        alerts: Alarms on what nodes send to Prometheus, for a stack whose nodes do so.
    """
    wanted = config.monitoring
    if wanted is None:
        return None
    limits = limits_of(config)
    messages = tuple(_messages(config, region, now))
    rules = _rules(config.name, wanted.workspace_arn, alerts)
    sources = [
        *more,
        *_reservation_sources(config, pools, limits),
        *(lustre_metrics(each, limits) for each in file_systems),
    ]
    return MonitoringPlan(
        region=region,
        tags=common_tags(config.name, config.tags),
        dashboard=wanted.dashboard,
        graphs=tuple(chain.from_iterable(each.graphs for each in sources)),
        log_metrics=tuple(chain.from_iterable(each.log_metrics for each in sources)),
        alarms=_alarms(wanted.alarms, sources, messages, rules) if wanted.alarms else None,
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


def _rules(
    cluster: str, workspace_arn: str | None, alerts: Sequence[AlertPlan]
) -> RulesPlan | None:
    if workspace_arn is None or not alerts:
        return None
    return RulesPlan(workspace_arn=workspace_arn, file=rule_file(cluster, alerts))


def _alarms(
    wanted: Alarms,
    sources: Sequence[Sources],
    messages: tuple[MessagePlan, ...],
    rules: RulesPlan | None,
) -> AlarmsPlan:
    return AlarmsPlan(
        topic_arn=wanted.topic_arn,
        emails=wanted.emails,
        alarms=tuple(chain.from_iterable(each.alarms for each in sources)),
        events=tuple(chain.from_iterable(each.events for each in sources)),
        messages=messages,
        rules=rules,
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
    leave, terminated = minutes_before_end(config.pools_with(name)[0].instance_type)
    happens = f"{leave} before the end, {drains}. " if drains else ""
    return (
        f"Capacity Block {block.reservation_id} (reservation {name} of stack {config.name}) ends "
        f"in {warning.hours_before_end} {hours}, at {warning.ends_at:%Y-%m-%d %H:%M} UTC. {happens}"
        f"EC2 begins to terminate its instances {terminated} before the end: write a checkpoint "
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
        description=f"Start of {named}, and the warning before the end",
        pattern={
            "source": ["aws.ec2"],
            # The user guide has two names for each event: `Capacity Block Reservation Delivered`
            # in its older version and `Capacity Block Delivered` in its newer one.
            "detail-type": [{"prefix": "Capacity Block"}],
            "detail": {"capacity-reservation-id": list(blocks)},
        },
    )
