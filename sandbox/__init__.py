"""An emulated AWS account with clusters on this machine: no credentials and no charges."""

from pathlib import Path

MODULES = Path(__file__).parents[2]
"""The directory from which `trainyard` is imported, which processes of the sandbox have to find."""
