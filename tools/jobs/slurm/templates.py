"""The scripts of the jobs, as templates: shell scripts in which `@name@` stands for a value.

`@`, because a shell script is full of `$` and braces. The templates lie beside this module in
`scripts/`, one directory a job.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
_VALUE = re.compile(r"@([a-z][a-z0-9_]*)@")


def render_script(name: str, values: Mapping[str, object]) -> str:
    """Return the script of that name, `nccl-tests/build.sbatch`, with its values.

    Args:
        name: Path below `scripts/`.
        values: What may stand in the template; not all of it must.

    Raises:
        KeyError: the template names a value that is not given.
    """
    template = (SCRIPTS / name).read_text(encoding="utf-8")
    return _VALUE.sub(lambda found: str(values[found[1]]), template)


def exports(values: Mapping[str, object]) -> str:
    """Return lines of shell that set and export these variables, quoted as the shell wants it."""
    return "\n".join(f"export {name}={shlex.quote(str(value))}" for name, value in values.items())
