"""Files beside the state that a killed engine leaves empty, after which no engine reads the state.

A `file://` backend keeps the attributes of each file in another that ends in `.attrs`. It empties
that one before it writes it, and renames the state into place only then; where it was killed in
between, every command says `failed to load checkpoint: EOF`. Without that file it reads the state.

Source: https://github.com/google/go-cloud/blob/master/blob/fileblob/attrs.go (`setAttrs`,
`getAttrs`).
"""

from __future__ import annotations

import json
from pathlib import Path

ATTRIBUTES_SUFFIX = ".attrs"


def remove_broken_sidecars(state_file: Path) -> list[Path]:
    """Remove what cannot be read of the attributes of a stack's state, and return it.

    One that an engine is writing just now may go too: nothing of a state is in it.
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
