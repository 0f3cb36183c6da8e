"""The collective communication tests and the accelerator manufacturer of each.

Sources:
    https://github.com/NVIDIA/nccl-tests
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from trainyard.components.catalog.instance_types import Manufacturer

JobTest = Literal["nccl-tests", "nccom-tests"]

_TESTS: tuple[tuple[JobTest, Manufacturer], ...] = (
    ("nccl-tests", "nvidia"),
    ("nccom-tests", "neuron"),
)
MAKERS: Mapping[str, Manufacturer] = MappingProxyType(dict(_TESTS))
"""Manufacturer of the accelerators, by the name of the test and its job."""
TESTS_BY_MAKER: Mapping[str, JobTest] = MappingProxyType({maker: name for name, maker in _TESTS})
