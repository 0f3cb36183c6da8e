"""Faults and where they are thrown, as tables that tests run and `docs/faults.md` shows."""
