"""Networks and file systems, whatever the architecture."""

from __future__ import annotations

from tests.support.batch import RAW
from tests.support.network_stack import NETWORK_RAW
from tests.support.stack_files import raw_config, refusals

STORAGE = {
    "fsx": {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef0"},
    "data": {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef1"},
}


def test_each_file_system_is_refused_with_where_its_data_may_lie():
    """Rule F9."""
    found = refusals(raw_config(RAW, storage=STORAGE))
    assert set(found) == {"storage.fsx", "storage.data"}
    assert "S3" in found["storage.fsx"].remedy


def test_in_a_network_alone_they_are_sent_to_the_stack_that_mounts_them():
    found = refusals(raw_config(NETWORK_RAW, storage=STORAGE))
    assert "whose nodes mount it" in found["storage.fsx"].remedy


def test_a_subnet_that_is_public_and_private_is_refused():
    raw = raw_config(RAW, network__public_subnet_ids=RAW["network"]["private_subnet_ids"])
    assert "only one default route" in refusals(raw)["network.private_subnet_ids"].problem
