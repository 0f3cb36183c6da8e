"""A stack file is completed without overriding its values."""

from __future__ import annotations

from pathlib import Path

from trainyard.stack_files.completion import complete, completed, overruled
from trainyard.stack_files.stack_files import StackFile


def test_completion_fills_what_is_missing() -> None:
    values = {"network": {"kind": "existing-vpc"}, "reservations": {"block": {"kind": "odcr"}}}
    completion = {
        "network": {"vpc_id": "vpc-1"},
        "reservations": {"block": {"reservation_id": "cr-1"}},
    }
    assert complete(values, completion) == {
        "network": {"kind": "existing-vpc", "vpc_id": "vpc-1"},
        "reservations": {"block": {"kind": "odcr", "reservation_id": "cr-1"}},
    }


def test_completion_never_overrules_the_stack_file() -> None:
    values = {"reservations": {"block": {"reservation_id": "cr-mine"}}}
    completion = {"reservations": {"block": {"reservation_id": "cr-theirs"}}}
    assert complete(values, completion) == values


def test_completion_adds_no_reservation_that_the_stack_file_does_not_name() -> None:
    values = {"reservations": {"other": {"kind": "odcr"}}}
    completion = {"reservations": {"block": {"reservation_id": "cr-theirs"}}}
    assert complete(values, completion) == values


def test_completion_leaves_a_network_of_another_kind_alone() -> None:
    values = {"network": {"kind": "new-vpc"}}
    assert complete(values, {"network": {"kind": "existing-vpc", "vpc_id": "vpc-1"}}) == values


def test_a_cluster_that_is_no_mapping_is_left_to_the_schema(tmp_path: Path) -> None:
    stack_file = StackFile("p5-cb", tmp_path / "a.yaml", {"config": {"trainyard:cluster": "text"}})
    assert completed(stack_file, {"network": {"vpc_id": "vpc-1"}}).cluster == "text"


def test_completion_adds_no_compute_environment_that_the_stack_file_does_not_name() -> None:
    completion = {"compute_environments": {"trn1": {"custom_ami_id": "ami-1"}}}
    renamed = {"compute_environments": {"training": {"image": "custom"}}}
    assert complete(renamed, completion) == renamed
    named = {"compute_environments": {"trn1": {"image": "custom"}}}
    assert complete(named, completion)["compute_environments"]["trn1"] == {
        "image": "custom",
        "custom_ami_id": "ami-1",
    }


def test_a_network_of_another_kind_overrules_nothing() -> None:
    """A reference to a stack of the sandbox is not an id of another account."""
    completion = {"network": {"kind": "existing-vpc", "vpc_id": "vpc-1"}}
    assert overruled({"network": {"kind": "stack-reference", "stack": "x"}}, completion) == []


def test_values_of_another_account_than_the_completions_are_found() -> None:
    values = {"network": {"vpc_id": "vpc-mine"}, "reservations": {"block": {"kind": "odcr"}}}
    completion = {"network": {"vpc_id": "vpc-1"}, "reservations": {"block": {"kind": "odcr"}}}
    assert overruled(values, completion) == ["network.vpc_id"]
    assert overruled({}, completion) == []
    assert overruled(values, completion, known={"vpc-mine"}) == []


def test_the_sandbox_reads_no_profile_of_the_user() -> None:
    content = {"config": {"aws:profile": "training", "trainyard:cluster": {}}}
    own = StackFile("p5-cb", Path("Pulumi.p5-cb.yaml"), content)
    assert own.settings.profile == "training"
    assert completed(own, {}).settings.profile == ""
