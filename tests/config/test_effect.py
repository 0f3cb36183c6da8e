"""Keys that have an effect only with another one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tests.support import eks
from tests.support.batch import P5
from tests.support.parallelcluster import raw_g4dn
from tests.support.printed_fixes import problems_of, unsolved
from tests.support.stack_files import raw_config
from trainyard.components.config.base import effective_with
from trainyard.components.config.given_stack import GivenStack

ALWAYS = Path(__file__).with_name("always_effective.txt")
KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-0a000000-0000-4000-8000-000000000001"
EBS_DRIVER = {"aws-ebs-csi-driver": "v1.54.0-eksbuild.1"}
LUSTRE = {"kind": "fsx-lustre"}
OLD_LUSTRE = {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef0"}
WITH_BACKUPS = {**LUSTRE, "per_unit_storage_throughput": 125, "backup_time": "03:00"}
MOUNTED = {"mount_directory": "/data"}


def mounted(**entry: Any) -> dict[str, Any]:
    return raw_g4dn(storage={"data": {**MOUNTED, **entry}})


def scratch(**entry: Any) -> dict[str, Any]:
    return eks.changed(storage={"data": {**LUSTRE, "deployment_type": "SCRATCH_2", **entry}})


@pytest.mark.parametrize(
    ("raw", "key", "switch"),
    [
        (raw_g4dn(architecture__monitoring={"logs": False, "log_retention_days": 30}),
         "architecture.monitoring.log_retention_days", "logs"),
        (raw_g4dn(architecture__head_node={"ssh": {"allowed_cidr": "10.0.0.0/8"}}),
         "architecture.head_node.ssh.allowed_cidr", "key_name"),
        (raw_g4dn(monitoring={"workspace_arn": WORKSPACE}),
         "monitoring.workspace_arn", "node_metrics: prometheus"),
        (eks.changed(architecture__log_retention_days=30),
         "architecture.log_retention_days", "log_types"),
        (eks.changed(architecture__addons={"log_retention_days": 90}),
         "architecture.addons.log_retention_days", "cloudwatch_observability"),
        (eks.changed(architecture__addons={"versions": EBS_DRIVER}),
         "architecture.addons.versions.aws-ebs-csi-driver", "the add-on"),
        (eks.changed(architecture__endpoint={"public_access": False,
                                             "public_access_cidrs": ["203.0.113.0/24"]}),
         "architecture.endpoint.public_access_cidrs", "public_access"),
        (eks.changed(policies={"ebs-encrypted": {
            "enforcement_level": "disabled",
            "suppressions": [{"resource": "x", "reason": "a reason", "expires": "2030-12-01"}]}}),
         "policies.ebs-encrypted.suppressions", "enforcement_level: advisory"),
        (scratch(export_path="s3://data/a"), "storage.data.export_path", "import_path"),
        (scratch(auto_import="NEW"), "storage.data.auto_import", "import_path"),
        (eks.changed(storage={"data": WITH_BACKUPS}),
         "storage.data.backup_time", "backup_retention_days"),
        (scratch(mount_directory="/fsx"), "storage.data.mount_directory",
         "architecture.kind: parallelcluster"),
        (mounted(**OLD_LUSTRE, claim_name="data"),
         "storage.data.claim_name", "architecture.kind: eks"),
        (mounted(**OLD_LUSTRE, mount_options=["ro"]),
         "storage.data.mount_options", "architecture.kind: eks"),
        (mounted(kind="efs", encrypted=False, kms_key_arn=KEY),
         "storage.data.kms_key_arn", "encrypted"),
        (mounted(kind="ebs", size_gib=200, encrypted=False, kms_key_arn=KEY),
         "storage.data.kms_key_arn", "encrypted"),
        (mounted(kind="fsx-openzfs", backup_time="03:00"),
         "storage.data.backup_time", "backup_retention_days"),
    ],
)  # fmt: skip
def test_a_key_without_its_switch_is_refused_with_both_ways_out(
    raw: dict[str, Any], key: str, switch: str
) -> None:
    found = {each.path.partition(".")[2]: each for each in problems_of(raw, "Pulumi.p5-cb.yaml")}
    assert list(found) == [key]
    problem = found[key]
    assert "no effect" in problem.problem
    assert switch in (problem.allowed or "")
    assert f"config rm --stack p5-cb --path 'trainyard:cluster.{key}'; or " in problem.remedy
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []


def test_all_keys_without_effect_are_reported_at_once() -> None:
    raw = raw_g4dn(
        architecture__monitoring={"logs": False, "log_retention_days": 30},
        architecture__head_node={"ssh": {"allowed_cidr": "10.0.0.0/8"}},
    )
    assert len(problems_of(raw, "Pulumi.pc.yaml")) == 2


def test_an_adopted_repository_keeps_its_lifecycle_policy() -> None:
    raw = raw_config(copy.deepcopy(P5))
    raw["architecture"]["repository"] = {"adopt": True, "kept_images": 7}
    found = [each.path for each in problems_of(raw, "Pulumi.batch.yaml")]
    assert found == ["trainyard:cluster.architecture.repository.kept_images"]


@pytest.mark.parametrize(
    "raw",
    [
        raw_g4dn(architecture__monitoring={"logs": False, "log_retention_days": 180}),
        raw_g4dn(architecture__monitoring={"log_retention_days": 30}),
        raw_g4dn(architecture__head_node={"ssh": {"allowed_cidr": "0.0.0.0/32"}}),
        eks.changed(monitoring={"node_metrics": "cloudwatch"},
                    architecture__addons={"log_retention_days": 90}),
        eks.changed(architecture__log_types=["audit"], architecture__log_retention_days=30),
    ],
)  # fmt: skip
def test_a_default_and_a_key_with_its_switch_are_accepted(raw: dict[str, Any]) -> None:
    assert problems_of(raw, "Pulumi.p5-cb.yaml") == []


def models(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_model and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, seen)
    for inner in get_args(annotation):
        yield from models(inner, seen)


def optional_fields() -> dict[str, bool]:
    """Return whether each optional field of the models names its switch, by model and field."""
    return {
        f"{model.__name__}.{name}": effective_with(field) is not None
        for model in models(GivenStack, set())
        for name, field in model.model_fields.items()
        if not field.is_required()
    }


def test_each_optional_field_names_its_switch_or_is_known_to_need_none() -> None:
    """A new field gets `EffectiveWith`, or a line in the list after somebody has thought of it."""
    found = optional_fields()
    listed = ALWAYS.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(name for name, has_switch in found.items() if not has_switch)
    assert sum(found.values()) >= 20


def test_the_switch_of_a_field_exists() -> None:
    for model in models(GivenStack, set()):
        for field in model.model_fields.values():
            effect = effective_with(field)
            for switch in effect.switches if effect else ():
                if not switch.key.startswith("/"):
                    assert switch.key in model.model_fields, (model, switch)
