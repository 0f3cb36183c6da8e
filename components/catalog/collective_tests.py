"""The tests of the network between nodes, and the maker of the accelerators that each is for.

Sources:
    https://github.com/NVIDIA/nccl-tests
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from components.catalog.instance_type import Manufacturer

JobTest = Literal["nccl-tests", "nccom-tests"]

_TESTS: tuple[tuple[JobTest, Manufacturer], ...] = (
    ("nccl-tests", "nvidia"),
    ("nccom-tests", "neuron"),
)
MAKERS: Mapping[str, Manufacturer] = MappingProxyType(dict(_TESTS))
"""Maker of the accelerators that a test is for, by the test's name, which is its job's too."""
TESTS_BY_MAKER: Mapping[str, JobTest] = MappingProxyType({maker: name for name, maker in _TESTS})
