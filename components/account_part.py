"""What each architecture reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from trainyard.components.account.check import as_warnings
from trainyard.components.compute.checks import pool_image_check, public_image_check
from trainyard.components.config.stack import StackConfig
from trainyard.components.quotas.checks import (
    PlannedStack,
    quota_check,
    quota_warnings,
    shared_needs,
)

if TYPE_CHECKING:
    from trainyard.components.account.check import ArchitectureNeeds, Check, Finding, Row
    from trainyard.components.account.facts import AccountFacts
    from trainyard.components.account.known import Known
    from trainyard.components.account.reader import AccountReader, Reading
    from trainyard.components.compute.image_registry import UsedImage
    from trainyard.components.config.named import Named
    from trainyard.components.config.stack import Architecture
    from trainyard.components.quotas.checks import Need


Config = TypeVar("Config", bound=StackConfig)
Plan = TypeVar("Plan", bound=PlannedStack)


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

    def checks(self, known: Known[Config, Plan]) -> Iterable[Check]:
        """Return the checks of a completed configuration, which need the account."""
        del known
        return ()

    def plan_checks(self, known: Known[Config, Plan]) -> Iterable[Check]:
        """Return the checks of a plan, which need the account too."""
        del known
        return ()

    def warnings(self, known: Known[Config, Plan]) -> Iterable[str]:
        """Return warnings to show before any change, which need the plan and the account."""
        del known
        return ()

    def quota_needs(self, plan: Plan) -> Iterable[Need]:
        """Return what the architecture needs of quotas, besides network, storage and pools."""
        del plan
        return ()

    def pin_checks(self, known: Known[Config, Plan]) -> Iterator[Finding]:
        """Yield the checks of what the program pins: AMIs of nodes, and public images.

        A stack that is up has warnings instead of problems: its nodes run, and an update that
        changes nothing must work. So has an image that only a later command pulls.
        """
        plan, facts = known.plan, known.facts
        images = [*self.container_images(plan, stack_file=known.stack_file)]
        pools = pool_image_check(
            plan.node_pools, facts, region=known.region, remedy=self.pool_image_remedy
        )
        refusing = [pools, public_image_check((each for each in images if not each.later), facts)]
        warning = [public_image_check((each for each in images if each.later), facts)]
        if known.is_up:
            refusing, warning = [], [*refusing, *warning]
        yield from refusing
        for check in warning:
            yield check.without_problems()
            yield from as_warnings(check.problems)

    def quota_checks(self, known: Known[Config, Plan]) -> Iterator[Finding]:
        """Yield the check of all quotas, and warnings where the count is an estimate."""
        plan, facts = known.plan, known.facts
        needs = [*shared_needs(known.config, plan), *self.quota_needs(plan)]
        yield quota_check(needs, facts, known.region)
        yield from quota_warnings(needs, facts, known.region)

    def preflight_readings(self, reader: AccountReader, config: Config) -> Iterable[Reading]:
        """Return the readings of `PreflightFacts` that only this architecture needs."""
        del reader, config
        return ()

    def preflight_rows(self, known: Known[Config, Plan]) -> Iterable[Row]:
        """Return further rows of `check --live`, which need the account and the preflight."""
        del known
        return ()
