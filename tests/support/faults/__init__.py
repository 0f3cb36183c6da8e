"""Faults and where they are injected, as tables that tests run and `docs/faults.md` shows."""
