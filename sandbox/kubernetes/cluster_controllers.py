"""The controllers of Kueue and JobSet in all clusters of a sandbox."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from trainyard.sandbox.kubernetes.commands import CONTROLLERS
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.pace import Pace
from trainyard.sandbox.kubernetes.released_controllers import Controller
from trainyard.sandbox.kubernetes.startup import ControlPlane
from trainyard.sandbox.processes import Spawn

_LOG = logging.getLogger(__name__)
_INTERVAL_SECONDS = 0.5


class Controllers:
    """The controllers of all clusters. The daemon runs `run` in a thread."""

    def __init__(
        self,
        control_planes: ControlPlanes,
        program: Callable[[str], Sequence[str] | None],
        spawn: Spawn,
    ) -> None:
        """Start without processes; the arguments are those of `Controller`."""
        self._control_planes = control_planes
        self._program = program
        self._spawn = spawn
        self._clusters: dict[ControlPlane, list[Controller]] = {}
        self._reported: dict[str, str] = {}

    def run(self, stop_event: threading.Event) -> None:
        """Run steps until `stop_event` is set; errors are logged once and retried."""
        pace = Pace(_INTERVAL_SECONDS)
        while not stop_event.wait(pace.interval(self._seen())):
            self.step()
        for each in [*self._clusters]:
            self._leave(each)

    def _seen(self) -> object:
        return [each.seen for controllers in self._clusters.values() for each in controllers]

    def step(self) -> None:
        """Look for clusters, and perform due actions in each."""
        found = [self._control_planes.get(name) for name in self._control_planes.names()]
        current = [each for each in found if each is not None]
        for gone in [each for each in self._clusters if each not in current]:
            self._leave(gone)
        for each in current:
            if each not in self._clusters:
                self._clusters[each] = [
                    Controller(name, each, self._program, self._spawn) for name in CONTROLLERS
                ]
            for controller in self._clusters[each]:
                self._step(controller)

    def _step(self, controller: Controller) -> None:
        name = controller.name
        try:
            controller.step()
        except Exception as error:  # the thread must not end
            problem = f"{name}: {type(error).__name__}: {error}"
            if self._reported.get(name) != problem:
                _LOG.warning("%s", problem)
            self._reported[name] = problem
        else:
            self._reported.pop(name, None)

    def _leave(self, cluster: ControlPlane) -> None:
        for each in self._clusters.pop(cluster):
            each.close()
