"""A stack file of any architecture: the root of the schema and of its documentation.

Importing this module imports every model, so code that reads a valid stack file does not import it.
"""

from typing import Annotated

from pydantic import ConfigDict, Field

from trainyard.components.config.batch import BatchArchitecture
from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.network_stack import NetworkArchitecture
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.stack import StackConfig

Architecture = Annotated[
    EksArchitecture | ParallelClusterArchitecture | BatchArchitecture | NetworkArchitecture,
    Field(discriminator="kind"),
]


class GivenStack(StackConfig):
    """One stack: the value of `trainyard:cluster` in a stack file."""

    model_config = ConfigDict(title="StackConfig")

    architecture: Architecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""
