"""Write the pictures of commands into docs/pictures: ``python -m tools.pictures``.

It runs the commands in a sandbox of its own, in two widths. Ids that the emulated account makes up,
times and durations differ from run to run, so the pictures are only rewritten on request.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.pictures.svg import terminal_svg
from tools.pictures.terminal import Recorded, Recording, record
from tools.workspace.checkout import ROOT
from tools.workspace.stack_files import find_stack_file
from tools.workspace.stacks_directory import VARIABLE

PICTURES = ROOT / "docs" / "pictures"
WIDTHS = (80, 120)
PLACE = Path(tempfile.gettempdir()) / "trainyard"
"""Directory of the sandbox and of the new stack file; its path is in the pictures."""
_BLOCK, _ODCR = "cr-0123456789abcdef0", "cr-00d00000000000005"
_ANSWERS = ("", f"{_BLOCK},{_ODCR}", "1", "", "1", "", "new", "1200", "sandbox", "y")


@dataclass(frozen=True, slots=True)
class Scene:
    """A command with a picture."""

    name: str
    """File name of the picture, without its width."""
    command: str
    """As a user types it after `./trainyard`."""
    answers: tuple[str, ...] = ()
    exit_code: int = 0
    during: str = ""
    """File name of a picture from the middle of the command."""


SCENES = (
    Scene("init", "init prod-a --sandbox", answers=_ANSWERS),
    Scene("check", "check p5-cb --live --sandbox"),
    Scene("up", "up p5-cb --sandbox --yes", during="up-progress"),
    Scene("status", "status p5-cb --sandbox"),
    Scene(
        "refusal",
        f"preview p5-cb --sandbox --stack-file {PLACE / 'wrong.yaml'}",
        exit_code=2,
    ),
)
"""In the order in which they run, for each width."""


def main() -> int:
    """Write all pictures. Return the exit code."""
    if PLACE.exists():
        sys.exit(f"{PLACE} exists; delete it first, because the pictures begin with nothing")
    try:
        for columns in WIDTHS:
            for name, picture in _pictures(columns):
                path = PICTURES / f"{name}-{columns}.svg"
                path.write_text(picture, encoding="utf-8")
                sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    finally:
        _run(Scene("", "sandbox stop"), 80)
        shutil.rmtree(PLACE, ignore_errors=True)
    return 0


def _pictures(columns: int) -> Iterator[tuple[str, str]]:
    """Yield the names and the pictures of one width, from an empty directory."""
    shutil.rmtree(PLACE / "stacks", ignore_errors=True)
    PLACE.mkdir(exist_ok=True)
    right = find_stack_file("p5-cb").path.read_text(encoding="utf-8")
    enabled = "efa_enabled: true\n"
    indent = " " * (right.index(enabled) - right.rindex("\n", 0, right.index(enabled)) - 1)
    wrong = right.replace(enabled, f"{enabled}{indent}placement: {{group: create}}\n")
    (PLACE / "wrong.yaml").write_text(wrong, encoding="utf-8")
    _run(Scene("", "sandbox start --latency 0.02"), columns)
    for scene in SCENES:
        done = _run(scene, columns)
        title = f"./trainyard {scene.command}"
        for name, lines in ((scene.name, done.end), (scene.during, done.during)):
            if lines:
                made = terminal_svg(lines, columns=columns, title=title, name=f"{name}-{columns}")
                yield name, made
    _run(Scene("", "destroy p5-cb --sandbox --yes"), columns)


def _run(scene: Scene, columns: int) -> Recorded:
    wanted = Recording(
        arguments=[sys.executable, "-m", "tools.cli", *scene.command.split()],
        columns=columns,
        answers=scene.answers,
        exit_code=scene.exit_code,
        moment=_is_busy if scene.during else None,
    )
    return record(wanted, directory=ROOT, environment=_environment())


def _is_busy(text: str) -> bool:
    """Whether the update has begun with what takes longest."""
    return "creating aws:eks:Cluster" in text


def _environment() -> Mapping[str, str]:
    """Return the environment of a user who has set nothing."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PULUMI_"))}
    own = {
        "PYTHONPATH": str(ROOT),
        "TRAINYARD_SANDBOX": str(PLACE / "sandbox"),
        VARIABLE: str(PLACE / "stacks"),
    }
    return {**kept, **own}


if __name__ == "__main__":
    sys.exit(main())
