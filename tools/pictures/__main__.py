"""Write the pictures of commands into docs/pictures: ``python -m tools.pictures``.

It runs the commands in a sandbox of its own, in two widths. From run to run, the durations in the
pictures of `up` differ, and the order of resources that are created at the same time.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from tools.pictures.terminal import Recorded, Recording, neutral, record, terminal_svg
from tools.repository import ROOT
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.stack_files.stacks_directory import VARIABLE

PICTURES = ROOT / "docs" / "pictures"
WIDTHS = (80, 120)
_WRONG = "wrong.yaml"
_BLOCK, _ODCR = "cr-0123456789abcdef0", "cr-00d00000000000005"
_ANSWERS = (
    *("", f"{_BLOCK},{_ODCR}", "1", "", "1", ""),
    *("203.0.113.0/24", "new", "1200", "sandbox", "y"),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A command with a picture."""

    name: str
    """File name of the picture, without its width."""
    command: str
    """As a user types it after `./trainyard`; `~` is the directory of the recording."""
    answers: tuple[str, ...] = ()
    exit_code: int = 0
    during: str = ""
    """File name of a picture from the middle of the command."""
    rows: int = 0
    """Lines of the terminal; 0 for all that the command writes."""


SCENES = (
    Scene("init", "init prod-a --sandbox", answers=_ANSWERS),
    Scene("check", "check p5-cb --live --sandbox"),
    Scene("up", "up p5-cb --sandbox --yes", during="up-progress", rows=30),
    Scene("status", "status p5-cb --sandbox"),
    Scene("refusal", f"preview p5-cb --sandbox --stack-file ~/{_WRONG}", exit_code=2),
)
"""In the order in which they run, for each width."""


class Stage:
    """A directory with a sandbox and stack files, in which the scenes of one width are recorded."""

    def __init__(self, place: Path, columns: int) -> None:
        """Take an empty directory, whose path is as long as `HOME`."""
        self._place, self._columns = place, columns
        self._began = datetime.now(UTC)

    def pictures(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the pictures of all scenes."""
        (self._place / _WRONG).write_text(_with_placement_group("p5-cb"), encoding="utf-8")
        try:
            self._run(Scene("", "sandbox start --latency 0.02"))
            for scene in SCENES:
                done = self._run(scene)
                yield scene.name, self._picture(scene, scene.name, done.end)
                if done.during:
                    yield scene.during, self._picture(scene, scene.during, done.during)
        finally:
            self._run(Scene("", "sandbox stop"))

    def _picture(self, scene: Scene, name: str, lines: list[Text]) -> str:
        return terminal_svg(
            neutral(lines, place=self._place, began=self._began)[-scene.rows :],
            columns=self._columns,
            title=f"./trainyard {scene.command}",
            name=f"{name}-{self._columns}",
        )

    def _run(self, scene: Scene) -> Recorded:
        command = scene.command.replace("~", str(self._place))
        wanted = Recording(
            arguments=[sys.executable, "-m", "trainyard", *command.split()],
            columns=self._columns,
            answers=scene.answers,
            exit_code=scene.exit_code,
            moment=_is_busy if scene.during else None,
        )
        return record(wanted, directory=ROOT, environment=self._environment())

    def _environment(self) -> Mapping[str, str]:
        """Return the environment of a user who has set nothing."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PULUMI_"))}
        own = {
            "PYTHONPATH": str(ROOT),
            "TRAINYARD_SANDBOX": str(self._place / "sandbox"),
            VARIABLE: str(self._place / "trainyard-stacks"),
        }
        return {**kept, **own}


def main() -> int:
    """Write all pictures. Return the exit code."""
    for columns in WIDTHS:
        place = Path(tempfile.mkdtemp(dir="/tmp"))  # a path as long as `HOME`
        try:
            for name, picture in Stage(place, columns).pictures():
                path = PICTURES / f"{name}-{columns}.svg"
                path.write_text(picture, encoding="utf-8")
                sys.stdout.write(f"{path.relative_to(ROOT)}\n")
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return 0


def _with_placement_group(stack: str) -> str:
    """Return a stack file as in the example of README.md: with what its nodes do not support."""
    right = find_stack_file(stack).path.read_text(encoding="utf-8")
    return re.sub(
        r"^( *)efa_enabled: true\n",
        r"\g<0>\1placement: {group: create}\n",
        right,
        flags=re.MULTILINE,
    )


def _is_busy(text: str) -> bool:
    """Whether an update waits for what takes longest."""
    return re.search(r"creating aws:eks:Cluster \S+ \([5-9] s\)", text) is not None


if __name__ == "__main__":
    sys.exit(main())
