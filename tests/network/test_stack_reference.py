"""The network of another stack, read from the engine."""

import pulumi
import pytest

from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.problems import ConfigError
from trainyard.components.network.cluster_network import READ_STACK_OUTPUTS, network_reader

REFERENCE = StackNetwork(kind="stack-reference", stack="vpc-one-az")
OUTPUTS = {
    "vpc_id": "vpc-0a1b2c3d4e5f60718",
    "public_subnet_ids": ["subnet-0a1b2c3d4e5f60711"],
    "private_subnet_ids": ["subnet-0a1b2c3d4e5f60712"],
    "notes": [],
}
READ = network_reader("Pulumi.batch-p5.yaml")


def answer(outputs):
    return {READ_STACK_OUTPUTS: {"outputs": outputs, "secretOutputNames": []}}


def test_the_network_is_that_of_the_outputs(deploy):
    """DF-04: typed outputs, read by name."""
    found = []
    cloud = deploy(lambda: found.append(READ(REFERENCE)), calls=answer(OUTPUTS))
    assert found == [
        ExistingVpc(
            kind="existing-vpc",
            vpc_id="vpc-0a1b2c3d4e5f60718",
            public_subnet_ids=("subnet-0a1b2c3d4e5f60711",),
            private_subnet_ids=("subnet-0a1b2c3d4e5f60712",),
        )
    ]
    assert cloud.invoked == [(READ_STACK_OUTPUTS, {"name": "vpc-one-az"})]


def test_reading_registers_nothing(deploy):
    """A resource would be in the state before the configuration is known to be valid."""
    assert deploy(lambda: READ(REFERENCE), calls=answer(OUTPUTS)).registered == []


def refusal(deploy, **arguments):
    with pytest.raises(ConfigError) as error:
        deploy(lambda: READ(REFERENCE), **arguments)
    (problem,) = error.value.problems
    assert problem.path == "trainyard:cluster.network.stack"
    return f"{problem.problem} {problem.remedy}"


@pytest.fixture
def engine_says(monkeypatch):
    """Make the engine answer every call with an error in its format."""

    def say(words):
        def fail(*_arguments, **_named):
            raise Exception(words)  # noqa: TRY002 (what the SDK raises)

        monkeypatch.setattr(pulumi.runtime, "invoke", fail)

    return say


def test_refuses_a_stack_that_does_not_exist(deploy, engine_says):
    engine_says(f'invocation of {READ_STACK_OUTPUTS} returned an error: unknown stack "vpc-one-az"')
    assert "./trainyard up vpc-one-az" in refusal(deploy)


def test_refuses_a_stack_that_was_never_up(deploy):
    assert "has no outputs" in refusal(deploy, calls=answer({}))


def test_refuses_a_stack_that_is_no_network(deploy):
    assert "does not export vpc_id" in refusal(deploy, calls=answer({"kubeconfig": "x"}))


def test_says_in_the_words_of_the_engine_why_a_stack_cannot_be_read(deploy, engine_says):
    engine_says("organization names must be 'organization'")
    words = refusal(deploy)
    assert "organization names must be 'organization'" in words
    assert "pulumi stack ls --all" in words
