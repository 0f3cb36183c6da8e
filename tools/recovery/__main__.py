"""Write the table of `docs/recovery.md`: `python -m tools.recovery`."""

from tools.recovery.reference import DOCUMENT, with_table

DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
