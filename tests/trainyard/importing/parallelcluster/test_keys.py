"""The keys of ParallelCluster are those of the version that the program deploys."""

from __future__ import annotations

import pytest

from trainyard.importing.parallelcluster.generate import DATA_FILE, schema_kinds, table


@pytest.mark.parallelcluster
def test_the_keys_are_those_of_the_installed_schema():
    assert DATA_FILE.read_text(encoding="utf-8") == table(schema_kinds())
