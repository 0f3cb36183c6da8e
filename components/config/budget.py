"""The most that a stack may cost."""

from typing import Annotated

from pydantic import Field

from trainyard.components.config.base import StrictModel


class Budget(StrictModel):
    """Limit of the list price of a stack."""

    monthly_usd: Annotated[int, Field(ge=1)]
    """Most USD that the stack may cost in a month of 730 hours, as `cost` calculates it. A plan
    above it is refused. Nodes that only jobs launch, data transfer and other charges that depend on
    use do not count, nor does the fee of a Capacity Block, which is paid in advance."""
