"""What each architecture reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from trainyard.components.config.stack import StackConfig

if TYPE_CHECKING:
    from trainyard.components.account.check import ArchitectureNeeds, Check, Row
    from trainyard.components.account.facts import AccountFacts, PreflightFacts
    from trainyard.components.account.reader import AccountReader, Reading
    from trainyard.components.compute.image_registry import UsedImage
    from trainyard.components.config.named import Named
    from trainyard.components.config.stack import Architecture
    from trainyard.components.quotas.checks import Need


Config = TypeVar("Config", bound=StackConfig)
Plan = TypeVar("Plan")


class AccountPart(Generic[Config, Plan]):
    """Readings and checks of one architecture; one that has none keeps the empty method."""

    needs: ClassVar[ArchitectureNeeds]
    pool_image_remedy: ClassVar[str] = "update trainyard, which looks for another AMI"
    """What to do if the region lacks the AMI of a node pool."""

    def container_images(self, plan: Plan, *, stack_file: str) -> Iterable[UsedImage]:
        """Return the container images that the stack pulls."""
        del plan, stack_file
        return ()

    def is_up(self, config: Config, facts: AccountFacts) -> bool:
        """Whether the stack exists, so that no date and no newer pin may stop its operation."""
        del config, facts
        return False

    def readings(self, reader: AccountReader, config: Config) -> Iterable[Reading]:
        """Return the readings of `AccountFacts` that only this architecture needs."""
        del reader, config
        return ()

    def later_readings(
        self, reader: AccountReader, config: Config, facts: AccountFacts
    ) -> Iterable[Reading]:
        """Return the readings that only the results of the others show to be needed."""
        del reader, config, facts
        return ()

    def made_names(self, config: Config) -> Iterable[Named]:
        """Return the fixed names under which the stack creates objects."""
        del config
        return ()

    def completed(self, config: Config, facts: AccountFacts) -> Architecture:
        """Return the architecture with missing values filled in, such as subnets of nodes."""
        del facts
        return config.architecture

    def log_groups(self, facts: AccountFacts, now: datetime) -> Mapping[str, int]:
        """Return the log groups that the stack adopts: days to keep their events, by name."""
        del facts, now
        return {}

    def checks(
        self, config: Config, facts: AccountFacts, *, stack_file: str, now: datetime
    ) -> Iterable[Check]:
        """Return the checks of a completed configuration."""
        del config, facts, stack_file, now
        return ()

    def plan_checks(self, plan: Plan, facts: AccountFacts, *, stack_file: str) -> Iterable[Check]:
        """Return the checks of a plan."""
        del plan, facts, stack_file
        return ()

    def warnings(self, config: Config, plan: Plan, facts: AccountFacts) -> Iterable[str]:
        """Return warnings to show before any change."""
        del config, plan, facts
        return ()

    def quota_needs(self, plan: Plan) -> Iterable[Need]:
        """Return what the architecture needs of quotas, besides network, storage and pools."""
        del plan
        return ()

    def preflight_readings(self, reader: AccountReader, config: Config) -> Iterable[Reading]:
        """Return the readings of `PreflightFacts` that only this architecture needs."""
        del reader, config
        return ()

    def preflight_rows(
        self, config: Config, facts: AccountFacts, more: PreflightFacts, today: date
    ) -> Iterable[Row]:
        """Return further rows of `check --live`; `today` is in UTC."""
        del config, facts, more, today
        return ()
