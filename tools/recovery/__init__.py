"""The table of docs/recovery.md."""
