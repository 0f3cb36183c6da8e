"""Write the reference of the policy pack: `python -m tools.policies`.

With `--check` nothing is written; the exit code is 1 where the document is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.policies.reference import reference

DOCUMENT = Path(__file__).parents[2] / "docs" / "policies.md"


def main(arguments: list[str]) -> int:
    """Write the document, or check it; return the exit code."""
    text = reference()
    if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in arguments:
        sys.stderr.write("docs/policies.md is out of date; run python -m tools.policies\n")
        return 1
    DOCUMENT.write_text(text, encoding="utf-8")
    sys.stdout.write("wrote docs/policies.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
