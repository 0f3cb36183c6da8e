"""The keys of modules and resources that are read, and of other blocks."""

from __future__ import annotations

from pathlib import Path

from trainyard.importing.key_table import KeyTable

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
"""A section is a module (`eks`), a resource (`aws_eks_cluster`), or a kind of other blocks."""
