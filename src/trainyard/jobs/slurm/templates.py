"""The job scripts as templates: shell scripts with `@name@` placeholders.

Placeholders use `@` because shell scripts contain many `$` and braces. The templates are in
`scripts/` next to this module, one directory per job.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
LIBRARY_PATH = """\
# libfabric and the NCCL plugin of the node; distributions differ in where libraries lie.
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib:/opt/amazon/ofi-nccl/lib64
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu
LD_LIBRARY_PATH+=:/opt/amazon/efa/lib:/opt/amazon/efa/lib64"""
_VALUE = re.compile(r"@([a-z][a-z0-9_]*)@")


def render_script(name: str, values: Mapping[str, object]) -> str:
    """Return a script such as `nccl-tests/build.sbatch` with its values.

    Args:
        name: Path below `scripts/`.
        values: Values for placeholders; the template need not use all of them.

    Raises:
        KeyError: the template has a placeholder without a value.
    """
    template = (SCRIPTS / name).read_text(encoding="utf-8")
    return _VALUE.sub(lambda found: str(values[found[1]]), template)


def exports(values: Mapping[str, object]) -> str:
    """Return shell lines that set and export these variables, quoted for the shell."""
    return "\n".join(f"export {name}={shlex.quote(str(value))}" for name, value in values.items())
