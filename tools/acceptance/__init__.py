"""The tables of docs/acceptance.md."""
