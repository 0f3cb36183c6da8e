"""Scripts and permissions of nodes, for head node and queues."""

import pytest

from trainyard.components.config.parallelcluster import S3Access
from trainyard.components.parallelcluster.node_scripts import NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import render_access

DOCKER = ScriptPlan(url="https://example.com/1/docker.sh")
PYXIS = ScriptPlan(url="https://example.com/1/pyxis.sh", arguments=("/fsx", "--verbose"))


def test_a_node_without_either_has_no_section():
    assert render_access(NodeAccess()) == {}


@pytest.mark.parametrize(
    ("place", "section"),
    [("on_node_start", "OnNodeStart"), ("on_node_configured", "OnNodeConfigured")],
)
def test_scripts_run_in_their_order_with_their_arguments(place, section):
    """PCx-07: Docker first, then Pyxis with the shared directory."""
    access = NodeAccess(**{place: (DOCKER, PYXIS)})
    assert render_access(access) == {
        "CustomActions": {
            section: {
                "Sequence": [
                    {"Script": "https://example.com/1/docker.sh"},
                    {"Script": "https://example.com/1/pyxis.sh", "Args": ["/fsx", "--verbose"]},
                ]
            }
        }
    }


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (S3Access(bucket="neuron-s3"), {"BucketName": "neuron-s3", "EnableWriteAccess": False}),
        (
            S3Access(bucket="results", key="runs/*", write=True),
            {"BucketName": "results", "KeyName": "runs/*", "EnableWriteAccess": True},
        ),
    ],
)
def test_buckets(access, expected):
    """TRN-23."""
    assert render_access(NodeAccess(s3_access=(access,))) == {"Iam": {"S3Access": [expected]}}


def test_policies():
    """PC-07."""
    arn = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    assert render_access(NodeAccess(iam_policies=(arn,))) == {
        "Iam": {"AdditionalIamPolicies": [{"Policy": arn}]}
    }


def test_built_in_scripts_are_read_from_their_part_of_the_bucket():
    """TRN-23: besides the buckets of the user, and nothing else of the stack's bucket."""
    scripts = (ScriptPlan(built_in="docker", key="node-scripts/docker-0123.sh"), PYXIS)
    own = S3Access(bucket="training-scripts", write=True)
    rendered = render_access(NodeAccess(s3_access=(own,), on_node_configured=scripts))
    first, second = rendered["CustomActions"]["OnNodeConfigured"]["Sequence"]
    assert first == {"Script": Reference("node-script", "node-scripts/docker-0123.sh")}
    assert second["Script"] == PYXIS.url
    assert rendered["Iam"]["S3Access"] == [
        {"BucketName": "training-scripts", "EnableWriteAccess": True},
        {
            "BucketName": Reference("script-bucket", "node-scripts/*"),
            "KeyName": "node-scripts/*",
            "EnableWriteAccess": False,
        },
    ]
