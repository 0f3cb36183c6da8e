"""File systems and the account: existing ones, changes that lose data, address capacity, names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import PRIVATE, cluster_facts
from tests.support.eks_account import NOW, VPC
from tests.support.shared_storage import OLD_LUSTRE, config_with
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.prepare import Prepared, prepare
from trainyard.components.config.problems import ROOT, ConfigError, Problem, Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.stack_review import review_dns_names
from trainyard.components.config.storage import NewFsxOpenZfs
from trainyard.components.network.facts import IngressFacts
from trainyard.components.storage.checks import complete_storage
from trainyard.components.storage.facts import FileSystemFacts

ID = "fs-0123456789abcdef0"
EXISTING = {"kind": "existing-fsx-lustre", "file_system_id": ID}
NEW = {"kind": "fsx-lustre", "per_unit_storage_throughput": 250, "storage_capacity_gib": 2400}
OPEN = tuple(
    IngressFacts(protocol="tcp", first_port=first, last_port=last, cidr="10.0.0.0/16")
    for first, last in ((988, 988), (1018, 1023))
)
SETTINGS = {
    "deployment_type": "PERSISTENT_2",
    "storage_type": "SSD",
    "drive_cache": None,
    "kms_key_arn": "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "efa_enabled": False,
    "import_path": None,
    "export_path": None,
    "metadata_iops": 6000,
}
MADE = {"trainyard:cluster": "p5-cb", "trainyard:storage": "data"}


def file_system(**changes: Any) -> FileSystemFacts:
    fields: dict[str, Any] = {
        "file_system_id": ID,
        "type": "LUSTRE",
        "lifecycle": "AVAILABLE",
        "vpc_id": VPC,
        "subnet_id": PRIVATE[1],
        "availability_zone": "us-west-2b",
        "dns_name": f"{ID}.fsx.us-west-2.amazonaws.com",
        "mount_name": "abcdefgh",
        "capacity_gib": 2400,
        "settings": SETTINGS,
        "tags": {},
        "security_group_ids": frozenset({"sg-0123456789abcdef0"}),
        "lets_in": OPEN,
    }
    return FileSystemFacts(**(fields | changes))


def holding(facts: AccountFacts, **changes: Any) -> AccountFacts:
    return replace(facts, file_systems={ID: file_system(**changes)})


def prepared(config: StackConfig, facts: AccountFacts) -> Prepared:
    return prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=NOW)


def problems(config: StackConfig, facts: AccountFacts) -> dict[str, Problem]:
    try:
        prepared(config, facts)
    except ConfigError as error:
        return {p.path.removeprefix(f"{ROOT}.storage.data."): p for p in error.problems}
    return {}


def test_names_and_size_of_an_existing_file_system_come_from_the_account(configure, facts):
    plan = prepared(configure(storage={"data": EXISTING}), holding(facts)).plan
    (found,) = plan.file_systems
    assert found.dns_name == f"{ID}.fsx.us-west-2.amazonaws.com"
    assert (found.mount_name, found.capacity_gib) == ("abcdefgh", 2400)


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        pytest.param({"type": "OPENZFS"}, "file_system_id", "not a Lustre", id="type"),
        pytest.param({"lifecycle": "CREATING"}, "file_system_id", "state", id="lifecycle"),
        pytest.param({"vpc_id": "vpc-2"}, "file_system_id", "another VPC", id="F7-vpc"),
        pytest.param({"lets_in": ()}, "security_group_id", "988 and 1018-1023", id="F7-closed"),
        pytest.param({"lets_in": OPEN[:1]}, "security_group_id", "1018-1023", id="F7-half"),
        pytest.param(
            {
                "lets_in": (
                    IngressFacts(protocol="-1", first_port=-1, last_port=-1, cidr="10.9.0.0/16"),
                )
            },
            "security_group_id",
            "988",
            id="F7-other-network",
        ),
    ],
)
def test_an_existing_file_system_that_nodes_cannot_mount_is_refused(
    configure, facts, changes, key, words
):
    found = problems(configure(storage={"data": EXISTING}), holding(facts, **changes))
    assert words in found[key].problem


@pytest.mark.parametrize("lifecycle", ["AVAILABLE", "MISCONFIGURED", "UPDATING"])
def test_a_file_system_that_has_lost_its_bucket_or_is_updated_can_be_mounted(
    configure, facts, lifecycle
):
    """https://docs.aws.amazon.com/fsx/latest/LustreGuide/file-system-lifecycle-states.html."""
    found = problems(configure(storage={"data": EXISTING}), holding(facts, lifecycle=lifecycle))
    assert found == {}


def test_the_file_system_of_another_stack_can_be_mounted(configure, facts):
    """Only a stack that adopts it could delete it."""
    other = holding(facts, tags={"trainyard:cluster": "prod"})
    assert problems(configure(storage={"data": EXISTING}), other) == {}


def test_a_file_system_that_does_not_exist_is_refused(configure, facts):
    found = problems(configure(storage={"data": EXISTING}), facts)
    assert "does not exist" in found["file_system_id"].problem


@pytest.mark.parametrize(
    "rule",
    [
        IngressFacts(protocol="-1", first_port=-1, last_port=-1, cidr="0.0.0.0/0"),
        IngressFacts(protocol="tcp", first_port=900, last_port=1100, cidr=None),
    ],
)
def test_wider_rules_and_rules_for_another_group_let_the_nodes_in(configure, facts, rule):
    """Whether another group is that of the nodes is unknown before nodes exist."""
    config = configure(storage={"data": EXISTING})
    assert problems(config, holding(facts, lets_in=(rule,))) == {}


def test_the_stack_opens_the_group_that_it_is_given(configure, facts):
    group = "sg-0123456789abcdef0"
    config = configure(storage={"data": {**EXISTING, "security_group_id": group}})
    assert problems(config, holding(facts, lets_in=())) == {}
    other = configure(storage={"data": {**EXISTING, "security_group_id": "sg-00000000"}})
    assert problems(other, holding(facts))["security_group_id"].allowed == group


def test_a_file_system_in_another_zone_than_the_nodes_is_a_warning(configure, facts):
    """F8."""
    far = holding(facts, availability_zone="us-west-2a")
    (warning,) = prepared(configure(storage={"data": EXISTING}), far).warnings
    assert "us-west-2a" in warning
    assert "us-west-2b" in warning


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("storage_capacity_gib", 1200),
        ("subnet_id", PRIVATE[0]),
        ("kms_key_arn", f"arn:aws:kms:us-west-2:123456789012:key/mrk-{0:032x}"),
        ("metadata_iops", 1500),
    ],
)
def test_a_change_that_would_replace_a_protected_file_system_is_refused(
    configure, facts, key, value
):
    config = configure(storage={"data": {**NEW, key: value}})
    found = problems(config, holding(facts, tags=MADE))
    assert set(found) == {key}
    assert f"would replace {ID}" in found[key].problem
    assert "deletion_protection" in found[key].remedy


def test_another_deployment_type_is_refused_too(configure, facts):
    wanted = {"kind": "fsx-lustre", "deployment_type": "SCRATCH_2", "storage_capacity_gib": 2400}
    found = problems(configure(storage={"data": wanted}), holding(facts, tags=MADE))
    assert set(found) == {"deployment_type"}


def test_whoever_gave_the_protection_up_may_replace_it(configure, facts):
    wanted = {**NEW, "storage_capacity_gib": 1200, "deletion_protection": False}
    assert problems(configure(storage={"data": wanted}), holding(facts, tags=MADE)) == {}


@pytest.mark.parametrize("key", ["storage_capacity_gib", "per_unit_storage_throughput"])
def test_more_of_it_is_no_replacement(configure, facts, key):
    config = configure(storage={"data": {**NEW, key: {"s": 4800, "p": 500}[key[0]]}})
    assert problems(config, holding(facts, tags=MADE)) == {}


def test_the_file_system_of_another_stack_is_not_ours(configure, facts):
    other = {**MADE, "trainyard:cluster": "other"}
    config = configure(storage={"data": {**NEW, "storage_capacity_gib": 1200}})
    assert problems(config, holding(facts, tags=other)) == {}


def test_a_subnet_without_room_for_the_servers_is_refused(configure, facts, with_subnet):
    config = configure(storage={"data": {**NEW, "storage_capacity_gib": 24000}})
    tight = with_subnet(PRIVATE[1], free_addresses=10)
    assert "11 addresses" in problems(config, tight)["subnet_id"].problem
    again = replace(holding(tight, tags=MADE))
    assert problems(config, again) == {}


def test_a_zone_becomes_the_first_private_subnet_in_it(configure, facts):
    config = configure(storage={"data": {**NEW, "availability_zone": "usw2-az2"}})
    assert prepared(config, facts).plan.file_systems[0].subnets == (PRIVATE[1],)


def test_parallelcluster_reads_the_names_itself(facts):
    """An existing file system keeps its id from the stack file."""
    config = config_with({"fsx": OLD_LUSTRE})
    identifier = OLD_LUSTRE["file_system_id"]
    known = replace(facts, file_systems={identifier: file_system(file_system_id=identifier)})
    assert complete_storage(config, known, places_file_systems=False) == config.storage


def test_a_zone_of_openzfs_becomes_a_subnet_too(configure, facts):
    wanted = {"kind": "fsx-openzfs", "availability_zone": "usw2-az2"}
    config = configure(storage={"home": wanted})
    completed = complete_storage(config, facts, places_file_systems=True)["home"]
    assert isinstance(completed, NewFsxOpenZfs)
    assert (completed.subnet_id, completed.availability_zone) == (PRIVATE[1], None)


def test_what_may_not_be_read_is_not_checked(configure, facts):
    named = {**EXISTING, "dns_name": "fs.example", "mount_name": "abc"}
    denied = replace(facts, unreadable=("fsx:DescribeFileSystems: AccessDeniedException",))
    assert problems(configure(storage={"data": named}), denied) == {}


GROUP = "sg-0123456789abcdef0"
ADOPTED = {**NEW, "adopt": {"file_system_id": ID, "security_group_id": GROUP}}


def test_an_adopted_file_system_is_planned_in_its_own_subnet(configure, facts):
    plan = prepared(configure(storage={"data": ADOPTED}), holding(facts)).plan
    (found,) = plan.file_systems
    assert (found.subnets, found.file_system_id) == ((PRIVATE[1],), ID)


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"type": "OPENZFS"}, "adopt.file_system_id", "not a Lustre"),
        ({"vpc_id": "vpc-2"}, "adopt.file_system_id", "another VPC"),
        ({"tags": {"trainyard:cluster": "prod"}}, "adopt.file_system_id", "another stack"),
        ({"security_group_ids": {"sg-2"}}, "adopt.security_group_id", "not a security group of"),
        ({"capacity_gib": 4800}, "storage_capacity_gib", "would replace"),
        (
            {"settings": SETTINGS | {"deployment_type": "SCRATCH_2"}},
            "deployment_type",
            "would replace",
        ),
        ({"settings": SETTINGS | {"import_path": "s3://b/a"}}, "import_path", "would replace"),
    ],
)
def test_a_file_system_that_the_stack_cannot_adopt_without_a_replacement_is_refused(
    configure, facts, changes, key, words
):
    found = problems(configure(storage={"data": ADOPTED}), holding(facts, **changes))
    assert words in found[key].problem


def test_an_adopted_file_system_that_is_closed_needs_its_group(configure, facts):
    adopted = {**NEW, "adopt": {"file_system_id": ID}}
    found = problems(configure(storage={"data": adopted}), holding(facts, lets_in=()))
    assert "adopt.security_group_id" in found["adopt.security_group_id"].remedy


def test_a_file_system_to_adopt_that_does_not_exist_is_refused(configure, facts):
    found = problems(configure(storage={"data": ADOPTED}), facts)
    assert "does not exist" in found["adopt.file_system_id"].problem


def test_a_file_system_of_an_old_version_is_refused_with_the_command_that_upgrades_it(
    configure, facts
):
    """https://github.com/amazonlinux/amazon-linux-2023/issues/723"""
    found = problems(configure(storage={"data": EXISTING}), holding(facts, version="2.10"))
    assert "client 2.15" in found["file_system_id"].problem
    assert f"--file-system-id {ID} --file-system-type-version 2.15" in (
        found["file_system_id"].remedy
    )


@pytest.mark.parametrize("version", ["2.12", "2.15", ""])
def test_other_versions_can_be_mounted(configure, facts, version):
    config = configure(storage={"data": EXISTING})
    assert problems(config, holding(facts, version=version)) == {}


def test_a_stack_that_is_up_goes_on_with_an_old_file_system(configure, facts):
    account = replace(holding(facts, version="2.10"), cluster=cluster_facts())
    ready = prepared(configure(storage={"data": EXISTING}), account)
    assert any("Lustre 2.10" in warning for warning in ready.warnings)


DNS_NAME = f"{ID}.fsx.us-west-2.amazonaws.com"


@pytest.mark.parametrize(
    ("key", "stated", "right"),
    [
        ("mount_name", "zyxwvuts", "abcdefgh"),
        ("dns_name", f"{ID}.fsx.us-west-2.amazonaws.com", f"{ID}.fsx.other.amazonaws.com"),
    ],
)
def test_a_name_that_is_not_that_of_the_file_system_is_refused(
    configure, facts, key, stated, right
):
    config = configure(storage={"data": {**EXISTING, key: stated}})
    problem = problems(config, holding(facts, **{key: right}))[key]
    assert problem.allowed == right
    assert right in problem.remedy


def test_names_that_are_those_of_the_file_system_are_accepted(configure, facts):
    """DNS names have no case."""
    stated = {"dns_name": DNS_NAME.upper(), "mount_name": "abcdefgh"}
    assert problems(configure(storage={"data": {**EXISTING, **stated}}), holding(facts)) == {}


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (
            "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com",
            "is of fs-0fedcba9876543210",
        ),
        (f"{ID}.fsx.us-east-1.amazonaws.com", "of the region us-east-1"),
        (f"{ID}.efs.us-west-2.amazonaws.com", "a name of EFS"),
        (f"{ID}.fsx.us-west-2.amazonaws.com.cn", "of the domain amazonaws.com.cn"),
    ],
)
def test_the_dns_name_of_another_file_system_is_refused_without_the_account(
    configure, stated, said
):
    config = configure(storage={"data": {**EXISTING, "dns_name": stated}})
    review = Review(stack_file="Pulumi.p5-cb.yaml")
    review_dns_names(config, "us-west-2", review)
    (problem,) = review.problems
    assert said in problem.problem
    assert problem.path.endswith("storage.data.dns_name")


def test_an_alias_cannot_be_compared_and_is_told(configure, facts):
    config = configure(storage={"data": {**EXISTING, "dns_name": "scratch.example.org"}})
    review = Review(stack_file="Pulumi.p5-cb.yaml")
    review_dns_names(config, "us-west-2", review)
    assert not review.problems
    (told,) = [each for each in prepared(config, holding(facts)).warnings if "alias" in each]
    assert told.startswith("storage.data.dns_name: scratch.example.org")


def test_a_size_that_is_not_that_of_the_file_system_is_told(configure, facts):
    config = configure(storage={"data": {**EXISTING, "storage_capacity_gib": 1200}})
    (told,) = [each for each in prepared(config, holding(facts)).warnings if "GiB" in each]
    assert "has 2400 GiB, not 1200" in told


def test_root_squash_is_told(configure, facts):
    config = configure(storage={"data": EXISTING})
    squashed = holding(facts, root_squash="65534:65534")
    assert any("root squash" in each for each in prepared(config, squashed).warnings)
    assert not any("root squash" in each for each in prepared(config, holding(facts)).warnings)
