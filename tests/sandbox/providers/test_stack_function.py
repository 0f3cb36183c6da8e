"""`aws.cloudformation.get_stack`: the data of a stack that another program created."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.cloudformation import Stacks, cloudformation
from tests.support.provider_plugin import Plugin, RefusedError
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.server import AwsServer

pytestmark = pytest.mark.parallelcluster

TOKEN = "aws:cloudformation/getStack:getStack"
TEMPLATE = json.dumps(
    {
        "Parameters": {"ClusterCWLogGroup": {"Type": "String", "Default": "/aws/training-1"}},
        "Resources": {"Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
        "Outputs": {"Name": {"Value": "training"}},
    }
)


@pytest.fixture(scope="module")
def plugin(
    server: AwsServer, aws_provider: Plugin, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plugin]:
    """The provider, in an account with one stack."""
    server.reset()
    with cloudformation(server, tmp_path_factory.mktemp("engine")):
        assert Stacks(Account(server)).create("training", TEMPLATE) == "CREATE_COMPLETE"
        yield aws_provider


def test_parameters_show_their_defaults(plugin: Plugin) -> None:
    """PR-46: the log group of a cluster is available only as a parameter of its stack."""
    answer = plugin.invoke(TOKEN, {"name": "training", "region": "us-west-2"})
    assert answer["parameters"] == {"ClusterCWLogGroup": "/aws/training-1"}
    assert answer["outputs"] == {"Name": "training"}
    assert answer["id"].startswith("arn:aws:cloudformation:us-west-2:")


def test_a_stack_that_is_not_there_is_an_error(plugin: Plugin) -> None:
    with pytest.raises(RefusedError, match="no matching CloudFormation Stack found"):
        plugin.invoke(TOKEN, {"name": "nobody"})
