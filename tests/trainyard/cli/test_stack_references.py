"""The network of another stack, as the commands read it from the sandbox and from a backend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.config.test_network_outputs import OUTPUTS, reference
from trainyard.components.config.problems import ConfigError
from trainyard.engine.engine_process import EngineFailedError, PulumiCommand
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.stack_files.stack_references import network_reader, outputs_of, with_ids
from trainyard.workspace.accounts import target_of
from trainyard.workspace.project import SandboxProject

NETWORK = {"kind": "stack-reference", "stack": "vpc-one-az"}


def stack_file(network: Any) -> StackFile:
    content = {
        "config": {"aws:region": "us-west-2", CLUSTER_KEY: {"name": "b", "network": network}}
    }
    return StackFile("batch-p5", Path("Pulumi.batch-p5.yaml"), content)


@pytest.fixture
def backend(tmp_path, monkeypatch) -> SandboxProject:
    """The project of a sandbox that is not running."""
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    from trainyard.workspace.project import sandbox_directory

    return SandboxProject(sandbox_directory().pulumi_state.parent)


def record(backend: SandboxProject, stack: str, outputs: dict[str, Any] | None) -> None:
    """Write the state of a stack in the engine's format; without outputs, a destroyed one."""
    made = [{"type": "pulumi:pulumi:Stack", "urn": "urn", "outputs": outputs}] if outputs else []
    path = backend.state_file(stack)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"checkpoint": {"latest": {"resources": made}}}), encoding="utf-8")


@pytest.mark.parametrize("name", ["vpc-one-az", "organization/trainyard/vpc-one-az"])
def test_the_network_of_a_stack_of_the_sandbox_is_read_from_its_state(backend, name) -> None:
    record(backend, "vpc-one-az", OUTPUTS)
    network = network_reader(target_of(stack_file(NETWORK), sandbox=True))(reference(name))
    assert network.vpc_id == OUTPUTS["vpc_id"]


@pytest.mark.parametrize("name", ["vpc-multi-az", "acme/trainyard/vpc-one-az"])
def test_a_stack_that_the_sandbox_does_not_have_is_refused(backend, name) -> None:
    record(backend, "vpc-one-az", OUTPUTS)
    with pytest.raises(ConfigError, match="does not exist in this backend"):
        network_reader(target_of(stack_file(NETWORK), sandbox=True))(reference(name))


def test_a_stack_that_was_destroyed_is_refused(backend) -> None:
    record(backend, "vpc-one-az", None)
    with pytest.raises(ConfigError, match="it is not deployed"):
        network_reader(target_of(stack_file(NETWORK), sandbox=True))(reference())


def test_ids_stand_in_place_of_the_reference_for_another_backend(backend) -> None:
    """`plan` previews on an empty backend, which does not have the other stack."""
    record(backend, "vpc-one-az", OUTPUTS)
    network = with_ids(target_of(stack_file(NETWORK), sandbox=True)).cluster["network"]
    assert network == {
        "kind": "existing-vpc",
        **{name: value for name, value in OUTPUTS.items() if name != "notes"},
    }


@pytest.mark.parametrize("network", [{"kind": "existing-vpc"}, None])
def test_a_stack_file_without_a_reference_stays_as_it_is(network) -> None:
    file = stack_file(network)
    assert with_ids(target_of(file, sandbox=True)) is file


class Engine(PulumiCommand):
    """An engine that gives one answer."""

    answer: str | EngineFailedError

    def output(self, arguments):
        assert arguments == ["stack", "output", "--stack", "vpc-one-az", "--json"]
        if isinstance(self.answer, EngineFailedError):
            raise self.answer
        return self.answer


@pytest.fixture
def engine(tmp_path):
    def make(answer: str | EngineFailedError) -> Engine:
        made = Engine(tmp_path, tmp_path, {})
        object.__setattr__(made, "answer", answer)
        return made

    return make


def test_the_backend_of_the_user_is_read_by_the_engine(engine) -> None:
    assert outputs_of(engine(json.dumps(OUTPUTS)), "vpc-one-az") == OUTPUTS


def test_a_stack_that_the_backend_does_not_have_has_no_outputs(engine) -> None:
    missing = EngineFailedError("error: no stack named 'vpc-one-az' found")
    assert outputs_of(engine(missing), "vpc-one-az") is None


def test_a_backend_that_cannot_be_read_is_an_error_of_its_own(engine) -> None:
    with pytest.raises(EngineFailedError, match="unauthorized"):
        outputs_of(engine(EngineFailedError("error: unauthorized")), "vpc-one-az")
