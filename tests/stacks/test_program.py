"""The program itself: it registers nothing before all checks have passed."""

import json
import runpy

import pulumi
import pytest

from tests.support.cloud import Cloud
from tests.support.stacks import ROOT, account_facts, stack_config
from trainyard import program as program_module
from trainyard.components.account.reader import AccountUnreachableError


@pytest.fixture
def program(deploy, monkeypatch):
    """Run `__main__.py` of the p5 stack, with configuration and account changed by the test."""

    def run(change=lambda config: None, look_up=lambda *_, **__: account_facts(), cloud=None):
        monkeypatch.setattr(program_module, "look_up", look_up)
        config = stack_config("p5-cb")
        change(config)
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in config.items()}
        return deploy(
            lambda: runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__"),
            stack="p5-cb",
            config=texts,
            cloud=cloud,
        )

    return run


@pytest.fixture
def refused(program, monkeypatch):
    """Run a program that must fail without registering anything, and return its message."""

    def run(**arguments):
        said = []
        monkeypatch.setattr(pulumi.log, "error", said.append)
        cloud = Cloud()
        with pytest.raises(SystemExit) as exit_:
            program(cloud=cloud, **arguments)
        # Pulumi then adds no output.
        assert exit_.value.code == 32
        assert cloud.registered == []
        assert cloud.invoked == []
        (message,) = said
        return message

    return run


def test_a_configuration_that_fits_is_built_and_exported(program):
    cloud = program()
    assert cloud.one("p5-cb-p5-nodes").inputs["maxSize"] == 2
    assert cloud.exports["cluster_name"] == "cluster"
    assert "secret" in cloud.exports["kubeconfig"] or cloud.exports["kubeconfig"]


def test_refuses_every_fault_of_the_configuration_at_once_and_registers_nothing(refused):
    def break_twice(config):
        config["trainyard:cluster"]["network"].pop("vpc_id")
        config["trainyard:cluster"]["reservations"]["block"]["reservation_id"] = "cr-1"

    message = refused(change=break_twice)
    assert "Pulumi.p5-cb.yaml: 2 problems; nothing was changed" in message
    assert "trainyard:cluster.network.vpc_id" in message
    assert "trainyard:cluster.reservations.block.reservation_id" in message


def test_refuses_a_placement_group_for_a_block_and_registers_nothing(refused):
    """Pain 1: insufficient capacity although it is reserved."""

    def force(config):
        pool = config["trainyard:cluster"]["architecture"]["node_groups"]["p5"]
        pool["placement"] = {"group": "create"}

    assert "node_groups.p5.placement.group" in refused(change=force)


def test_refuses_keys_beside_the_one_object(refused):
    """Without `--path`, `config set` writes a value to a key that is not read."""

    def stray(config):
        config["trainyard:vpc_id"] = "vpc-0123456789abcdef0"

    assert "trainyard:vpc_id" in refused(change=stray)


def test_refuses_an_account_that_does_not_answer(refused):
    def look_up(*_, **__):
        raise AccountUnreachableError("no AWS credentials were found")

    assert "no AWS credentials" in refused(look_up=look_up)


def test_refuses_a_stack_without_a_region(refused):
    def forget(config):
        config.pop("aws:region")

    message = refused(change=forget)
    assert "set `aws:region` in Pulumi.p5-cb.yaml" in message
