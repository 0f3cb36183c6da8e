"""The planned file systems of a stack file, and their subnets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import PRIVATE, changed, refusals, with_odcr
from tests.support.stack_files import plan_from
from trainyard.components.config.fsx_lustre import EFA_STEP_GIB
from trainyard.components.storage.storage_plan import FsxLustrePlan, mount_command

PERSISTENT_2 = {"kind": "fsx-lustre", "per_unit_storage_throughput": 250}
EXISTING = {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef0"}


def lustre(base: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return changed(
        storage={"data": {**(base or PERSISTENT_2), **changes}},
        architecture__node_groups__p5__subnet_id=PRIVATE[1],
    )


def planned(raw: dict[str, Any], **options: Any) -> FsxLustrePlan:
    (found,) = plan_from(raw, **options).file_systems
    return found


def test_a_file_system_lies_where_the_nodes_with_efa_are():
    assert planned(lustre()).subnets == (PRIVATE[1],)


def test_offline_it_lies_in_a_subnet_that_only_the_account_knows():
    raw = changed(storage={"data": PERSISTENT_2})
    found = plan_from(raw)
    assert found.file_systems[0].subnets == tuple(PRIVATE)
    assert any(note.startswith("storage data: is in the subnet of") for note in found.notes)


def test_a_subnet_that_is_given_is_taken():
    assert planned(lustre(subnet_id=PRIVATE[0])).subnets == (PRIVATE[0],)


def test_a_subnet_of_another_network_is_refused():
    problem = refusals(lustre(subnet_id="subnet-00000000000000fff"))["storage.data.subnet_id"]
    assert problem.allowed == ", ".join(PRIVATE)


def test_two_groups_with_efa_in_two_subnets_leave_the_choice_to_the_user():
    raw = with_odcr()
    groups = raw["architecture"]["node_groups"]
    groups["other"] = {
        **groups["p5"],
        "purchase_option": "on-demand",
        "subnet_id": PRIVATE[0],
    }
    groups["p5"]["subnet_id"] = PRIVATE[1]
    raw["storage"] = {"data": PERSISTENT_2}
    problem = refusals(raw, subnets_known=True)["storage.data.subnet_id"]
    assert problem.allowed == f"{PRIVATE[0]}, {PRIVATE[1]}"
    assert problem.remedy.endswith(f"storage.data.subnet_id' {PRIVATE[0]}")


def test_a_zone_of_an_adopted_vpc_is_left_to_the_account():
    raw = lustre(availability_zone="us-west-2b")
    assert planned(raw).subnets == tuple(PRIVATE)
    problem = refusals(raw, subnets_known=True)["storage.data.availability_zone"]
    assert problem.found == "us-west-2b"


def test_efa_without_nodes_that_have_it_is_refused():
    raw = lustre(efa_enabled=True, storage_capacity_gib=19200)
    raw["architecture"]["node_groups"]["p5"]["efa_enabled"] = False
    assert set(refusals(raw)) == {"storage.data.efa_enabled"}


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        ({"kind": "efs"}, "efs"),
        ({"kind": "fsx-openzfs"}, "fsx-openzfs"),
        ({"kind": "ebs", "size_gib": 20}, "ebs"),
        ({"kind": "existing-efs", "file_system_id": "fs-0123456789abcdef0"}, "existing-efs"),
        (
            {"kind": "existing-fsx-openzfs", "volume_id": "fsvol-0123456789abcdef0"},
            "existing-fsx-openzfs",
        ),
        ({"kind": "existing-ebs", "volume_id": "vol-0123456789abcdef0"}, "existing-ebs"),
    ],
)
def test_what_eks_does_not_mount_here_is_refused_with_a_reason(system, kind):
    problem = refusals(changed(storage={"home": system}))["storage.home.kind"]
    assert problem.found == kind
    assert problem.problem.startswith("is not mounted on EKS: ")
    assert problem.allowed == "fsx-lustre, existing-fsx-lustre"


def test_a_directory_of_the_nodes_is_refused_on_eks():
    problem = refusals(lustre(mount_directory="/fsx"))["storage.data.mount_directory"]
    assert "each container sets where" in problem.problem
    assert problem.remedy.startswith("pulumi config rm ")


def test_one_claim_for_two_file_systems_is_refused():
    raw = changed(storage={"data": PERSISTENT_2, "more": {**PERSISTENT_2, "claim_name": "data"}})
    assert set(refusals(raw)) == {"storage.more.claim_name"}


def test_an_existing_file_system_needs_what_clients_mount():
    raw = lustre(EXISTING)
    assert planned(raw).file_system_id == "fs-0123456789abcdef0"
    found = set(refusals(raw, subnets_known=True))
    assert found == {"storage.data.dns_name", "storage.data.mount_name"}


def test_a_claim_is_named_as_the_file_system_in_the_spelling_of_kubernetes():
    raw = changed(storage={"Train_Data": PERSISTENT_2})
    claim = planned(raw).claim
    assert (claim.name, claim.namespace, claim.volume_name) == (
        "train-data",
        "default",
        "default-train-data",
    )


def test_the_plan_says_which_file_system_of_the_stack_it_is():
    tags = planned(lustre()).tags
    assert tags["trainyard:storage"] == "data"
    assert tags["trainyard:cluster"] == "p5-cb"


@given(st.integers(min_value=1, max_value=40), st.sampled_from(sorted(EFA_STEP_GIB)))
def test_it_takes_an_address_for_each_server(servers, throughput):
    step = EFA_STEP_GIB[throughput]
    raw = lustre(
        efa_enabled=True,
        per_unit_storage_throughput=throughput,
        storage_capacity_gib=step * servers,
    )
    assert planned(raw).addresses == servers + 1


def test_the_mount_command_names_server_and_file_system():
    command = mount_command(dns_name="fs-1.fsx.aws", mount_name="abc", directory="/mnt/data")
    assert command == "sudo mount -t lustre -o relatime,flock fs-1.fsx.aws@tcp:/abc /mnt/data"


@pytest.mark.parametrize(
    ("changes", "cache"),
    [
        ({}, None),
        ({"storage_type": "HDD"}, "NONE"),
        ({"storage_type": "HDD", "drive_cache": "NONE"}, "NONE"),
        ({"storage_type": "HDD", "drive_cache": "READ"}, "READ"),
    ],
)
def test_hard_disks_have_no_cache_unless_they_are_given_one(changes, cache):
    hard_disks = {"per_unit_storage_throughput": 12, "storage_capacity_gib": 6000}
    ssd = {"per_unit_storage_throughput": 50}
    base = {"kind": "fsx-lustre", "deployment_type": "PERSISTENT_1"}
    settings = planned(lustre({**base, **(hard_disks if changes else ssd), **changes})).settings
    assert settings is not None
    assert settings.drive_cache_type == cache
