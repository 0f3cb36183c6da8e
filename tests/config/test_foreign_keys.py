"""Messages about keys of other tools suggest the equivalent keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import changed, p5, schema_problems
from tests.support.parallelcluster import raw_trn1
from trainyard.components.config.explain import _ELSEWHERE, _FOREIGN_WORDS, foreign_key
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import place_at

GROUP = "architecture.node_groups.p5"


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("efa", "efa_enabled"),
        ("efaEnabled", "efa_enabled"),
        ("min", "minimum"),
        ("minSize", "minimum"),
        ("min_size", "minimum"),
        ("MinCount", "minimum"),
        ("max", "maximum"),
        ("MaxCount", "maximum"),
        ("desiredCapacity", "desired"),
        ("desired_size", "desired"),
        ("instanceType", "instance_type"),
        ("instance_types", "instance_type"),
        ("InstanceType", "instance_type"),
        ("capacityReservation", "purchase_option"),
        ("capacity_type", "purchase_option"),
        ("placementGroup", "placement"),
        ("availabilityZones", "availability_zone"),
        ("volumeSize", "root_volume"),
        ("SubnetIds", "subnet_id"),
        ("attachPolicyARNs", "iam_policies"),
    ],
)
def test_a_word_of_another_tool_is_answered_with_our_key(word: str, ours: str):
    raw = p5(**{word: 1})
    problem = schema_problems(raw)[f"{GROUP}.{word}"]
    assert f"here it is called `{ours}`" in problem.problem
    set_already = ours in raw["architecture"]["node_groups"]["p5"]
    assert ("is set already" if set_already else f"rename it to `{ours}`") in problem.remedy


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("region", "aws:region"),
        ("vpcId", "network.vpc_id"),
        ("managedNodeGroups", "architecture.node_groups"),
        ("SharedStorage", "storage"),
    ],
)
def test_a_key_of_another_level_is_answered_with_its_place(word: str, path: str):
    problem = schema_problems(changed(**{word: 1}))[word]
    assert f"it is `{path}` of the stack file" in problem.problem
    assert problem.remedy.startswith("pulumi config rm ")


def test_words_of_parallelcluster_are_known_in_its_sections():
    queue: dict[str, Any] = {"CustomSlurmSettings": {}, "ComputeResources": {}, "Networking": {}}
    raw = raw_trn1()
    (name,) = raw["architecture"]["queues"]
    raw["architecture"]["queues"][name] |= queue
    found = schema_problems(raw)
    said = {path.rpartition(".")[2]: problem.problem for path, problem in found.items()}
    assert "`slurm_settings`" in said["CustomSlurmSettings"]
    assert "`compute_resources`" in said["ComputeResources"]
    assert "`network` of the stack file" in said["Networking"]


def test_a_word_without_a_meaning_here_is_no_word_of_another_tool():
    assert foreign_key("colour", ["minimum", "maximum"]) is None


def test_every_answer_is_a_key_of_the_schema():
    models: list[Any] = [GivenStack]
    keys: set[str] = set()
    for model in models:
        for name, field in model.model_fields.items():
            keys.add(name)
            models += [each for each in _models(field.annotation) if each not in models]
    assert {ours for every in _FOREIGN_WORDS for ours in every} <= keys
    for path, _ in _ELSEWHERE.values():
        parts = tuple(path.split("."))
        raw = {"network": {"kind": _kind_with(parts)}, "architecture": {"kind": _kind_with(parts)}}
        known = path.startswith("aws:") or place_at(GivenStack, raw, parts) is not None
        assert known or path == "purchase_option"


def _kind_with(parts: tuple[str, ...]) -> str:
    kinds = {
        "availability_zones": "new-vpc",
        "node_groups": "eks",
        "kubernetes_version": "eks",
        "head_node": "parallelcluster",
        "queues": "parallelcluster",
    }
    return kinds.get(parts[-1], "existing-vpc")


def _models(annotation: Any) -> list[Any]:
    from typing import get_args

    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models(each)]
