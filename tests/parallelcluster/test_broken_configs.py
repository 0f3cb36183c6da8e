"""Broken clusters, refused by the program and by the real ParallelCluster.

The table is in `tests/parallelcluster/support/refusals`; `docs/parallelcluster-refusals.md` is
generated from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.parallelcluster.support.refusals.case import (
    GOOD,
    NOW,
    REGION,
    STACK_FILE,
    Case,
    broken_stack,
    broken_yaml,
    good_yaml,
)
from tests.parallelcluster.support.refusals.table import CASES, PAGE, page
from tests.support.parallelcluster_validators import Validation, validate
from tests.support.sandbox_aws import Account, default_account
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.config.problems import ROOT, ConfigError
from trainyard.components.parallelcluster import account as parallelcluster_checks

GOOD_CLUSTER = "pc-good"
OFFLINE = [case for case in CASES if not case.account]
LIVE = [case for case in CASES if case.account]
IN_YAML = [case for case in CASES if case.theirs or case.cluster != "pc-broken"]
LEFT_TO_PARALLELCLUSTER = {"a block without reservation"}
"""Cases that only ParallelCluster refuses; each contains the reason."""


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    """The sandbox's account, with an RSA key pair, as the default account of AWS clients."""
    with default_account() as opened, pytest.MonkeyPatch.context() as patch:
        # Nothing is deployed; this server does not answer CloudFormation.
        patch.setattr(parallelcluster_checks, "look_up_deployed", lambda *_: None)
        opened.ec2.create_key_pair(KeyName="rsa", KeyType="rsa")
        yield opened


@pytest.fixture(scope="module")
def real(account: Account) -> dict[str, Validation]:
    """ParallelCluster's result for every case, by name; one process for all."""
    good = good_yaml()
    names = {case.name: _cluster(case, index) for index, case in enumerate(IN_YAML)}
    configs = {names[case.name]: broken_yaml(case, good) for case in IN_YAML}
    configs[GOOD_CLUSTER] = good
    found = validate(configs, account=account.server.access, region=REGION)
    by_name = {name: found[cluster] for name, cluster in names.items()}
    return {**by_name, GOOD_CLUSTER: found[GOOD_CLUSTER]}


def _cluster(case: Case, index: int) -> str:
    return f"pc-{index}" if case.cluster == "pc-broken" else case.cluster


def _config(raw: object) -> ParallelClusterStackConfig:
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, ParallelClusterStackConfig)
    return config


def _check(raw: object) -> None:
    plan_stack(_config(raw), stack_file=STACK_FILE, region=REGION, now=NOW)


def _check_live(raw: object) -> None:
    config = _config(raw)
    facts = look_up(config, region=REGION)
    prepare(config, facts, stack_file=STACK_FILE, region=REGION, now=datetime.now(UTC))


def _ids(case: Case) -> str:
    return case.name


def test_the_good_cluster_passes_here():
    _check(GOOD)


def test_the_good_cluster_passes_in_the_account(account: Account):
    _check_live(GOOD)


@pytest.mark.parallelcluster
def test_the_good_cluster_passes_parallelcluster(real: dict[str, Validation]):
    assert real[GOOD_CLUSTER].loaded
    assert not real[GOOD_CLUSTER].errors


@pytest.mark.parametrize("case", [case for case in OFFLINE if case.path], ids=_ids)
def test_a_broken_cluster_is_refused_offline_at_its_key(case: Case):
    """Section 3.4 of the parity tables: validators that answer before anything is registered."""
    with pytest.raises(ConfigError) as refused:
        _check(broken_stack(case))
    found = {problem.path: problem for problem in refused.value.problems}
    problem = found[f"{ROOT}.{case.path}"]
    assert problem.remedy
    assert set(found) == {f"{ROOT}.{case.path}"}, "one fault is told once, in one place"


@pytest.mark.parametrize("case", [case for case in LIVE if case.path], ids=_ids)
def test_a_fault_that_the_account_shows_is_refused_with_it(case: Case, account: Account):
    _check(broken_stack(case))
    with pytest.raises(ConfigError) as refused:
        _check_live(broken_stack(case))
    assert f"{ROOT}.{case.path}" in {problem.path for problem in refused.value.problems}


@pytest.mark.parametrize("case", [case for case in CASES if not case.path], ids=_ids)
def test_what_is_left_to_parallelcluster_passes_here(case: Case, account: Account):
    _check_live(broken_stack(case))


@pytest.mark.parallelcluster
@pytest.mark.parametrize("case", IN_YAML, ids=_ids)
def test_parallelcluster_refuses_what_the_table_says(case: Case, real: dict[str, Validation]):
    assert sorted(real[case.name].refused_by) == sorted(case.validators)


def test_whatever_parallelcluster_refuses_is_refused_here_or_left_with_a_reason():
    left = {case.name for case in CASES if case.validators and not case.path}
    assert left == LEFT_TO_PARALLELCLUSTER
    assert not [case.name for case in CASES if case.name in left and not case.why]


def test_every_stricter_rule_says_why():
    stricter = [case for case in CASES if case.path and not case.validators]
    assert not [case.name for case in stricter if not case.why]


def test_every_case_has_a_name_of_its_own():
    assert len({case.name for case in CASES}) == len(CASES) >= 40


def test_the_page_is_that_of_the_table():
    """Made with `python -m tests.parallelcluster.support.refusals.table`."""
    assert PAGE.read_text(encoding="utf-8") == page()
