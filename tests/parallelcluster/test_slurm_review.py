"""Slurm parameters that ParallelCluster sets itself."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster_configs import raw_config
from tests.support.parallelcluster_reviews import problems


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("JobCompType", "jobcomp/filetxt", False),
        ("JobAcctGatherType", "jobacct_gather/linux", False),
        ("Prolog", "/opt/prolog.sh", True),
        ("PROLOG", "/opt/prolog.sh", True),
        ("SuspendTime", "60", True),
        ("NodeName", "outside-[1-4]", False),
        ("NodeName", "q-dy-r-[1-4]", True),
    ],
)
def test_only_what_parallelcluster_leaves_open_is_set(name: str, value: str, *, refused: bool):
    """PC-10; without accounting even `JobAcctGatherType` is free."""
    raw = raw_config(architecture__slurm={"settings": {name: value}})
    assert list(problems(raw)) == [f"architecture.slurm.settings.{name}"] * refused


def test_the_remedy_names_the_setting_that_does_the_same():
    raw = raw_config(architecture__slurm={"settings": {"SuspendTime": 60}})
    (problem,) = problems(raw).values()
    assert "architecture.slurm.idle_minutes" in problem.remedy
