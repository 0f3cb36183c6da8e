"""Write all generated documents: `python -m tools.schema`.

`--check` writes nothing; the exit code is 1 if a document is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.schema.documents import documents

ROOT = Path(__file__).parents[2]


def main(arguments: list[str]) -> int:
    """Write or check the documents; return the exit code."""
    stale = [
        path
        for path, content in documents().items()
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != content
    ]
    if "--check" in arguments:
        for path in stale:
            sys.stderr.write(f"{path} is out of date; run python -m tools.schema\n")
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(documents()[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
