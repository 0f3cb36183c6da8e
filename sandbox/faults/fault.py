"""One entry of a schedule of faults.

Apart from the kinds: those also run in ParallelCluster's Python environment, which has no pydantic.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trainyard.sandbox.faults.recorded_log import LogFile

DeviceResource = Literal[
    "nvidia.com/gpu",
    "vpc.amazonaws.com/efa",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
]
"""The extended resources of the sandbox's nodes."""


class Fault(BaseModel):
    """One entry of a schedule."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    happens: str
    """Name of a kind."""
    call: str = ""
    """`service:Operation`, with globs; empty for a kind that does not happen to calls."""
    nth: int = Field(default=1, ge=1)
    """The first matching call that is hit."""
    times: Annotated[int, Field(ge=1)] | Literal["always"] = 1
    """How many matching calls in a row are hit."""
    for_calls: int | None = Field(default=None, ge=1)
    """`not-found-yet`: reads that do not find the object."""
    pid: int | None = Field(default=None, ge=2)
    """`engine-killed`: the process to kill; None: the engine behind the call."""
    node_group: str | None = None
    """`node-never-joins`, `device-lost`: the node group."""
    plugin: str | None = None
    """`device-plugin-never-ready`: the plugin."""
    reservation: Annotated[str, Field(pattern="^cr-[0-9a-f]{17}$")] | None = None
    """`reservation-expires`: the capacity reservation, `cr-` and 17 hexadecimal digits."""

    job: str | None = None
    """Kinds of containers: name of the job, with globs; of a Batch job also without its suffix."""
    index: int | None = Field(default=None, ge=0)
    """Completion index of the pod, or index of the node of a Batch job; None: any."""
    labels: dict[str, str] | None = None
    """Labels of the pod, or tags of the Batch job; None: any."""
    exit_code: int | None = Field(default=None, ge=1, le=255)
    """`container-fails`: exit code of the program; None: 1."""
    after_seconds: float = Field(default=0, ge=0)
    """Time between the start of the container and what happens, by the clock of the sandbox."""
    log: LogFile | None = None
    """What the program prints at its start."""
    stop_log: LogFile | None = None
    """What the program prints when it gets SIGTERM."""
    stop_seconds: float = Field(default=0, ge=0)
    """Time between SIGTERM and the end of the program."""
    resource: DeviceResource | None = None
    """`device-lost`: the extended resource."""
    devices: int = Field(default=1, ge=1)
    """`device-lost`: how many devices of a node."""

    def hits(self, count: int) -> bool:
        """Return whether the `count`th matching call is hit; the first is 1."""
        return count >= self.nth and (self.times == "always" or count < self.nth + self.times)
