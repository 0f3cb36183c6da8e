"""`repair --watch`: looks for bad nodes at intervals, and replaces them, until SIGTERM.

A look changes nothing and takes no lock, so `up` and other commands can run in between. A repair
takes the lock of the stack, and looks again first. SIGTERM ends the watch between two steps; what a
repair has begun, the next one continues.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from trainyard.cli import console
from trainyard.cli.user_errors import exit_code_of, message_of
from trainyard.components.eks.plan import EksPlan
from trainyard.repair.decision import Decision
from trainyard.repair.repair_request import RepairRequest
from trainyard.repair.report import report
from trainyard.schedulers.kubernetes.repair import Opened, opened, pods_of, repair_cluster

INTERVAL_MINUTES = 5.0
"""Default time between two looks. The shortest time after which a condition means a bad node is 10
minutes."""


class StoppedError(Exception):
    """SIGTERM has arrived."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends a watch in its next pause."""

    signals: SimpleQueue[int]
    """Those that have arrived. Unlike `threading.Event`, a handler can use it at any moment."""

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            StoppedError: SIGTERM has arrived.
        """
        with contextlib.suppress(Empty):
            self.signals.put(self.signals.get(timeout=seconds))
            raise StoppedError


@dataclass(slots=True)
class Watch:
    """Looks at a cluster, and repairs it."""

    load: Callable[[], tuple[EksPlan, RepairRequest]]
    """Reads the stack file, which may have changed since the last look."""
    opened: Opened = opened
    repair: Callable[[EksPlan, RepairRequest], None] = repair_cluster
    told: object = None
    """What the last look has found."""

    def look(self) -> None:
        """Look once; repair what is bad, or report it if it is new.

        An error that a user can correct is reported: it may be gone at the next look.

        Raises:
            StoppedError: SIGTERM has arrived.
        """
        try:
            plan, request = self.load()
            if not self._has_work(plan, request):
                return
            self.repair(plan, request)
        except StoppedError:
            raise
        except Exception as error:
            if exit_code_of(error) is None:
                raise
            console.progress(f"{message_of(error)}; the watch goes on")

    def _has_work(self, plan: EksPlan, request: RepairRequest) -> bool:
        """Return whether nodes are to be replaced now; tell what is found otherwise."""
        with self.opened(plan, request) as replacement:
            cluster = replacement.look()
            decision = replacement.decide(cluster)
            if not request.dry_run and replacement.has_work(decision):
                self.told = None
                return True
            found = _found(decision)
            if found != self.told:
                self.told = found
                lines = report(decision, cluster, pods_of(replacement, decision))
                for line in [*lines] or [f"{request.target.stack}: no node is bad"]:
                    console.answer(line)
        return False


def watch(
    load: Callable[[Stop], tuple[EksPlan, RepairRequest]],
    *,
    interval_minutes: float,
    opened: Opened = opened,
    repair: Callable[[EksPlan, RepairRequest], None] = repair_cluster,
) -> None:
    """Look at a cluster until SIGTERM, and replace its bad nodes.

    Args:
        load: Reads the stack file, and returns its plan and a request whose pauses end on SIGTERM.
        interval_minutes: Time between two looks.
        opened: Gives the replacement of nodes, for a look.
        repair: Replaces bad nodes.
    """
    stop = Stop(SimpleQueue())
    before = signal.signal(signal.SIGTERM, lambda received, _: stop.signals.put(received))
    made = Watch(lambda: load(stop), opened, repair)
    try:
        while True:
            made.look()
            stop.pause(interval_minutes * 60)
    except StoppedError:
        console.progress("stopped; the next `repair` continues what has begun")
    finally:
        signal.signal(signal.SIGTERM, before)


def _found(decision: Decision) -> object:
    """Return what a look has found, without the times that each look changes."""
    groups = (decision.now, decision.later, decision.refused, decision.suspected)
    return [sorted((e.node.name, e.obstacle) for e in each) for each in groups], sorted(
        decision.replacing
    )
