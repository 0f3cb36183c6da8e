"""What is known of a stack when it is checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeAlias, TypeVar

from trainyard.components.account.check import ArchitectureNeeds
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.config.named import Named
from trainyard.components.config.problems import Problem
from trainyard.components.config.stack import StackConfig

Config = TypeVar("Config", bound=StackConfig)
Plan = TypeVar("Plan")
Knowledge: TypeAlias = Literal["plan", "account", "preflight"]
"""What a check can need besides the stack file: the plan, the account, and what only the preflight
asks the account for."""


class NotKnownError(LookupError):
    """A check reads what it does not need according to the list of checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Generic[Config, Plan]):
    """A stack, its region and the time, with its plan and its account as far as they are known."""

    given: Config
    """The stack file."""
    config: Config
    """The stack file, completed with values from the account."""
    stack_file: str
    """Name of the stack file, for messages and commands."""
    region: str
    now: datetime
    """Timezone-aware."""
    architecture: ArchitectureNeeds | None = None
    """What its architecture needs of the account; None without the account."""
    names: tuple[Named, ...] = ()
    """The objects that the stack file names, and the names that the stack takes."""
    is_up: bool = False
    """Whether the stack exists, so that no date and no newer pin may stop its operation."""
    planned: Plan | None = None
    """None before the plan, and of a stack that cannot be planned."""
    plan_problems: tuple[Problem, ...] = ()
    """Why it cannot be planned in this account."""
    account: AccountFacts | None = None
    """None without the account."""
    live: PreflightFacts | None = None
    """None outside of the preflight."""

    @property
    def plan(self) -> Plan:
        """The plan.

        Raises:
            NotKnownError: it is not known, so the list of checks has to name it.
        """
        if self.planned is None:
            raise NotKnownError("plan")
        return self.planned

    @property
    def facts(self) -> AccountFacts:
        """What the account has.

        Raises:
            NotKnownError: it is not known, so the list of checks has to name it.
        """
        if self.account is None:
            raise NotKnownError("account")
        return self.account

    @property
    def more(self) -> PreflightFacts:
        """What only the preflight asks the account for.

        Raises:
            NotKnownError: it is not known, so the list of checks has to name it.
        """
        if self.live is None:
            raise NotKnownError("preflight")
        return self.live

    @property
    def needs(self) -> ArchitectureNeeds:
        """What the architecture of the stack needs of the account.

        Raises:
            NotKnownError: it is not known, so the list of checks has to name the account.
        """
        if self.architecture is None:
            raise NotKnownError("account")
        return self.architecture

    def knowledge(self) -> frozenset[Knowledge]:
        """Return what is known besides the stack file."""
        return frozenset(self._knowledge())

    def _knowledge(self) -> Iterator[Knowledge]:
        if self.planned is not None:
            yield "plan"
        if self.account is not None:
            yield "account"
        if self.live is not None:
            yield "preflight"
