"""The root of the configuration: the fields that stacks of every architecture have."""

import re
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field

from trainyard.components.config.base import (
    ClusterName,
    EffectiveWith,
    Form,
    InstanceTypeName,
    Line,
    NodePoolName,
    StrictModel,
    Switch,
    TagKey,
)
from trainyard.components.config.monitoring import NodeMetrics, StackMonitoring
from trainyard.components.config.network import Network, PlacedNetwork
from trainyard.components.config.node_pool import BlockPools, OwnNodes, Pool
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.config.storage import FileSystem


class Budget(StrictModel):
    """Limit of the list price of a stack."""

    monthly_usd: Annotated[int, Field(ge=1)]
    """Most USD that the stack may cost in a month of 730 hours, as `cost` calculates it. A plan
    above it is refused. Nodes that only jobs launch, data transfer and other charges that depend on
    use do not count, nor does the fee of a Capacity Block, which is paid in advance."""


BusBandwidth = Annotated[int, Field(ge=1, le=10_000)]


class Verification(StrictModel):
    """Settings of `verify`."""

    required: bool = False
    """EKS: whether nodes with accelerators are tainted (`trainyard.dev/unverified`) when they join
    the cluster, so that no job runs on them until `verify` passes. Changing it replaces the nodes
    of managed node groups; self-managed node groups use it for new nodes."""
    minimum_bus_bandwidth_gb_per_second: dict[InstanceTypeName, BusBandwidth] = Field(
        default_factory=dict
    )
    """Lowest bus bandwidth of the largest message between nodes, by instance type. The unit is that
    of nccl-tests, GB/s (10^9 bytes), not Gbit/s. If omitted for a type, the published threshold
    applies, if there is one. `verify --minimum-bandwidth` overrides it."""


RuleName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
        expected="the name of a rule, as docs/policies.md lists it",
        example="ebs-encrypted",
    ),
]
SuppressedResource = Annotated[
    str,
    Form(
        # Wildcards alone would disable the rule, for which there is `enforcement_level`.
        pattern=r".*[^*?].*",
        expected="the name or the URN of a resource, with `*` and `?` as wildcards",
        example="p5-cb-scratch",
    ),
]
Reason = Annotated[
    str,
    Form(
        pattern=r"(?s:.*\S.*)",
        expected="a reason in words",
        example="scratch data only",
        lines=True,
    ),
]


def _day(value: Any) -> Any:
    # YAML reads an unquoted date as a timestamp, and Pulumi passes it in the format of Go:
    # `2026-12-01 00:00:00 +0000 UTC`.
    if not isinstance(value, str):
        return value
    printed = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?: 00:00:00 \+0000 \S+)?", value)
    try:
        return date.fromisoformat(printed[1]) if printed else value
    except ValueError:
        return value


Day = Annotated[
    date, BeforeValidator(_day, json_schema_input_type=date), Field(examples=["2026-12-01"])
]
"""A date in UTC, such as `2026-12-01`."""


class Suppression(StrictModel):
    """A resource to which a rule does not apply until a date."""

    resource: SuppressedResource
    """Name or URN of the resource, or a pattern with `*` and `?`."""
    reason: Reason
    """Why the rule does not apply to the resource. Every preview shows it."""
    expires: Day
    """Last day of the suppression, in UTC. After it, the suppression is an error, and the rule
    applies again."""


class RuleSettings(StrictModel):
    """Settings of one rule of the policy pack for the stack."""

    enforcement_level: Literal["advisory", "mandatory", "disabled"] | None = None
    """`mandatory`: a violation fails the preview. `advisory`: the preview shows it. `disabled`: the
    rule does not run. If omitted, the rule's own level."""
    suppressions: Annotated[
        list[Suppression],
        EffectiveWith(
            (Switch("enforcement_level", (None, "advisory", "mandatory")),),
            why="the rule does not run",
        ),
    ] = Field(default_factory=list[Suppression])
    """Resources to which the rule does not apply."""


# The root of the configuration: the fields that stacks of every architecture have.
#
# The models of an architecture are in modules of their own (`eks` and so on), of which only the
# stack's own is imported. Shared code reads what `Architecture` has.


class JobLimit(NamedTuple):
    """A time limit of jobs."""

    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    minutes: float
    purchase_options: tuple[str, ...]
    """Those of the nodes that the jobs run on, each once."""


class Architecture(StrictModel):
    """What shared code reads of an architecture."""

    POOL_NOUN: ClassVar[str] = "node"
    """Term for a node pool, for messages: `node group`."""
    PLACE_NOUN: ClassVar[str] = "network"
    """Term for the section that has `availability_zone`, for messages: `node group`, `queue`."""

    ACCEPTS_SHARES: ClassVar[bool] = True
    """Whether the stack accepts resource shares of reservations."""
    BLOCK_STARTS: ClassVar[str] = ""
    """What happens when a Capacity Block starts, for timelines."""
    BLOCK_DRAINS: ClassVar[str | None] = None
    """What the scheduler does before EC2 terminates the nodes of a Capacity Block, for timelines;
    None if it does nothing."""
    CAN_REQUIRE_VERIFICATION: ClassVar[bool] = False
    """Whether nodes can be closed to jobs until `verify` passes."""

    if TYPE_CHECKING:
        kind: Any
        """Name of the architecture; each model has a literal."""

    @property
    def node_system(self) -> str:
        """Operating system of the nodes: `Amazon Linux`, or one of ParallelCluster."""
        return "Amazon Linux"

    def pools(self) -> tuple[Pool, ...]:
        """Return the node pools for workloads, sorted by name."""
        return ()

    def in_every_block(self, blocks: BlockPools) -> Self:
        """Return the architecture with separate node pools for `further_blocks`."""
        return self

    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the nodes outside of the pools."""
        return ()

    def key_names(self) -> frozenset[str]:
        """Return the names of the key pairs in the stack file."""
        return frozenset()

    def image_ids(self) -> tuple[str, ...]:
        """Return the ids of the AMIs in the stack file."""
        return ()

    def job_limits(self) -> tuple[JobLimit, ...]:
        """Return the time limits of jobs in the stack file."""
        return ()


class StackConfig(StrictModel):
    """The fields of every stack; each architecture adds `architecture`."""

    name: ClusterName
    """Name of the cluster, and prefix of the names of all resources in the stack. Changing it
    replaces the cluster."""
    tags: dict[TagKey, Line] = Field(default_factory=dict)
    """Tags of all resources, by key."""
    network: Network
    """The network."""
    reservations: dict[NodePoolName, Reservation] = Field(default_factory=dict)
    """Capacity reservations, by the name that `purchase_option` uses."""
    storage: dict[NodePoolName, FileSystem] = Field(default_factory=dict)
    """File systems, by name."""
    monitoring: StackMonitoring | None = None
    """Dashboard and alarms. If omitted, the stack has neither."""
    verification: Verification = Verification.defaults()
    """Thresholds of `verify`, and whether nodes must pass it."""
    budget: Budget | None = None
    """The most that the stack may cost. If omitted, there is no limit."""
    policies: dict[RuleName, RuleSettings] = Field(default_factory=dict)
    """Exceptions from rules of the policy pack, by the rule names in `docs/policies.md`."""

    if TYPE_CHECKING:
        architecture: Architecture

    @property
    def node_metrics(self) -> NodeMetrics | None:
        """Where nodes with accelerators or EFA send their metrics; None if they send none."""
        return self.monitoring.node_metrics if self.monitoring else None

    def pools(self) -> tuple[Pool, ...]:
        """Return the node pools for workloads, sorted by name."""
        return self.architecture.pools()

    def pools_with(self, purchase_option: str) -> tuple[Pool, ...]:
        """Return the node pools with a purchase option: the users of a reservation of that name."""
        return tuple(pool for pool in self.pools() if pool.purchase_option == purchase_option)

    def used_reservations(self) -> dict[str, Reservation]:
        """Return the reservations that nodes launch into, by their names."""
        used = {pool.purchase_option for pool in self.pools()}
        return {name: each for name, each in self.reservations.items() if name in used}

    def resource_shares(self) -> dict[str, str]:
        """Return the RAM shares to accept before nodes launch, by the name of their reservation."""
        shares = {
            name: reservation.resource_share_arn
            for name, reservation in self.used_reservations().items()
            if not isinstance(reservation, CapacityBlock)
        }
        return {name: arn for name, arn in shares.items() if arn is not None}


class PlacedStackConfig(StackConfig):
    """A validated configuration, in which a network of another stack is already resolved."""

    network: PlacedNetwork  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """The network; that of another stack is already resolved."""
    network_stack: str | None = None
    """The stack that provides the network, if the stack file names one."""
