"""Empty attribute files of a killed engine, which make the state unreadable.

A `file://` backend keeps the attributes of each file in a second file that ends in `.attrs`. It
truncates that file before it writes it, and only then renames the state into place. If the engine
is killed in between, every command fails with `failed to load checkpoint: EOF`. Without the
attribute file, the engine reads the state.

Source: https://github.com/google/go-cloud/blob/master/blob/fileblob/attrs.go (`setAttrs`,
`getAttrs`).
"""

from __future__ import annotations

import json
from pathlib import Path

ATTRIBUTES_SUFFIX = ".attrs"


def remove_broken_sidecars(state_file: Path) -> list[Path]:
    """Remove and return the unreadable attribute files of a stack's state.

    This may also remove a file that an engine is writing; attribute files hold no state.
    """
    names = (state_file.name, f"{state_file.name}.bak")
    sidecars = (state_file.with_name(name + ATTRIBUTES_SUFFIX) for name in names)
    broken = [path for path in sidecars if path.exists() and not _is_whole(path)]
    for path in broken:
        path.unlink(missing_ok=True)
    return broken


def _is_whole(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_bytes()), dict)
    except FileNotFoundError:
        return True
    except ValueError:
        return False
