"""The calls that the sandbox handles are those of stacks and commands, by who makes them."""

from __future__ import annotations

import re

import pytest

from tests.support.aws_plugin import MAPPING, provider_source
from tests.support.parallelcluster_calls import parallelcluster_calls
from tests.support.provider_calls import provider_calls
from tests.witness.support.calls import called, iam_name
from trainyard.sandbox.aws.unimplemented import listed_calls
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python

LISTS = re.compile(r"^var (resources|dataSources) = .*?^}", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r'^\t"(aws_\w+)":', re.MULTILINE)
KINDS = {"resources": "Resource", "dataSources": "DataSource"}
IN_LIBRARIES = {
    "iam:GetUser",  # aws-sdk-go-base, for the number of the account
    "s3:GetObject",  # the SDK's manager of transfers
    "s3:PutObject",
    "s3:TagResource",  # of S3 Control, in a package that the file of a bucket does not name
    "ssm:ListTagsForResource",
}
"""Calls of the provider that no file of a type or its functions names."""


def test_the_calls_of_the_commands_are_those_that_their_code_names() -> None:
    assert sorted(listed_calls()["commands"]) == sorted(map(iam_name, called()))


@pytest.mark.engine
def test_the_calls_of_the_provider_are_those_of_its_source() -> None:
    source = provider_source()
    types = {
        (KINDS[found[1]], name)
        for found in LISTS.finditer(MAPPING.read_text(encoding="utf-8"))
        for name in TYPE.findall(found[0])
    }
    found = provider_calls(source, types)
    assert not found & IN_LIBRARIES
    assert sorted(listed_calls()["provider"]) == sorted(found | IN_LIBRARIES)


@pytest.mark.parallelcluster
def test_the_calls_of_parallelcluster_are_those_of_its_source() -> None:
    environment = parallelcluster_python(print).parents[1]
    (package,) = environment.glob("lib/python3*/site-packages/pcluster")
    found = parallelcluster_calls(package)
    assert sorted(listed_calls()["parallelcluster"]) == sorted(found)
