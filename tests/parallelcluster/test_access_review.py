"""Scripts that nodes run."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster_configs import raw_config
from tests.support.parallelcluster_reviews import problems


@pytest.mark.parametrize(
    ("system", "script", "refused"),
    [
        ("alinux2023", "docker", False),
        ("rhel9", "docker", True),
        ("rhel9", "pyxis", False),
        ("alinux2023", "https://example.org/setup.sh", False),
        ("rhel9", "s3://training-scripts/setup.sh", False),
        ("alinux2023", "s3://training-scripts", True),
        ("alinux2023", "s3://training-scripts/", True),
    ],
)
@pytest.mark.parametrize("where", ["architecture.head_node", "architecture.queues.compute"])
def test_a_script_is_an_object_that_runs_on_the_nodes(
    system: str, script: str, where: str, *, refused: bool
):
    """PCx-07."""
    actions = {"on_node_configured": [{"script": script}]}
    raw = raw_config(
        architecture__operating_system=system,
        **{f"{where.replace('.', '__')}__custom_actions": actions},
    )
    key = f"{where}.custom_actions.on_node_configured[0].script"
    assert list(problems(raw)) == [key] * refused
