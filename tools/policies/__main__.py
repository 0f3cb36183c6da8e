"""Write what is generated from the rules: `python -m tools.policies`.

With `--check` nothing is written; the exit code is 1 where a document is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tools.policies.reference import reference
from trainyard.rules.coverage import coverage

FOLDER = Path(__file__).parents[2] / "docs"


def documents() -> Mapping[str, str]:
    """Return the content of every generated document, by its name in `docs`."""
    return {"policies.md": reference(), "rules.md": coverage()}


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    """Write the documents into a folder, or check them; return the exit code."""
    stale = {name: text for name, text in documents().items() if _committed(folder / name) != text}
    for name, text in stale.items():
        if "--check" in arguments:
            sys.stderr.write(f"docs/{name} is out of date; run python -m tools.policies\n")
        else:
            (folder / name).write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote docs/{name}\n")
    return 1 if stale and "--check" in arguments else 0


def _committed(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
