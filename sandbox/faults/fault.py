"""One entry of a schedule of faults.

Apart from the kinds: those also run in ParallelCluster's Python environment, which has no pydantic.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    """`node-never-joins`: the node group."""
    plugin: str | None = None
    """`device-plugin-never-ready`: the plugin."""
    reservation: Annotated[str, Field(pattern="^cr-[0-9a-f]{17}$")] | None = None
    """`reservation-expires`: the capacity reservation, `cr-` and 17 hexadecimal digits."""

    def hits(self, count: int) -> bool:
        """Return whether the `count`th matching call is hit; the first is 1."""
        return count >= self.nth and (self.times == "always" or count < self.nth + self.times)
