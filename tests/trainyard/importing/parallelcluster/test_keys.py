"""The keys of ParallelCluster are those of the version that the program deploys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.importing.generate import parallelcluster_table, schema_kinds
from trainyard.importing.parallelcluster import conversion


@pytest.mark.parallelcluster
def test_the_keys_are_those_of_the_installed_schema():
    file = Path(conversion.__file__).with_name("keys.txt")
    assert file.read_text(encoding="utf-8") == parallelcluster_table(schema_kinds())
