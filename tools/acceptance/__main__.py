"""Write the tables of `docs/acceptance.md`: `python -m tools.acceptance`."""

from trainyard.acceptance.assumptions import DOCUMENT, with_tables

DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
