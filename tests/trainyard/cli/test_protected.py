"""Objects that `destroy` reports as retained, and how to remove them."""

from tests.support.tracked import ROOT
from trainyard.deployment.protected import explanation, how_to_forget, read_state
from trainyard.stack_files.stack_files import StackFile, find_stack_file
from trainyard.workspace.accounts import target_of

URN = "urn:pulumi:dev::trainyard::"
GROUP = {
    "urn": f"{URN}aws:ec2/securityGroup:SecurityGroup::data-group",
    "type": "aws:ec2/securityGroup:SecurityGroup",
    "id": "sg-1",
    "custom": True,
    "inputs": {},
}
FILE_SYSTEM = {
    "urn": f"{URN}aws:fsx/lustreFileSystem:LustreFileSystem::data-file-system",
    "type": "aws:fsx/lustreFileSystem:LustreFileSystem",
    "id": "fs-1",
    "custom": True,
    "protect": True,
    "inputs": {"tags": {"trainyard:storage": "data"}},
}
LINK = FILE_SYSTEM | {"urn": f"{URN}aws:fsx/x:X::data-0", "type": "aws:fsx/x:X", "id": "dra-1"}
BY_HAND = GROUP | {"urn": f"{URN}aws:s3/bucket:Bucket::logs", "protect": True, "id": "logs"}
OTHER = GROUP | {"urn": f"{URN}aws:ec2/vpc:Vpc::network", "id": "vpc-1"}
OTHERS = [
    {"urn": f"{URN}trainyard:storage:FsxLustre::data", "type": "trainyard:storage:FsxLustre"},
    {
        "urn": f"{URN}pulumi:providers:aws::default",
        "type": "pulumi:providers:aws",
        "custom": True,
        "id": "1",
    },
    GROUP | {"external": True, "id": "sg-somebody-elses"},
    GROUP | {"delete": True, "id": "sg-going"},
]


def state(*resources):
    return {"deployment": {"resources": list(resources)}}


def said(*resources, gone=(OTHER,), stack_file="Pulumi.dev.yaml", sandbox=False):
    kept, before = read_state(state(*resources)), read_state(state(*resources, *gone))
    file = StackFile("dev", ROOT / stack_file, {})
    return explanation(kept, before, target=target_of(file, sandbox=sandbox))


def test_components_providers_and_what_is_only_read_are_no_objects_of_the_stack():
    assert [kept.identifier for kept in read_state(state(GROUP, *OTHERS))] == ["sg-1"]


def test_tags_that_are_a_list_name_no_storage():
    """Like those of an Auto Scaling group."""
    (kept,) = read_state(state(GROUP | {"inputs": {"tags": [{"key": "a", "value": "b"}]}}))
    assert kept.entry is None


def test_an_empty_state_holds_nothing():
    assert read_state({"deployment": None}) == ()


def test_what_stays_is_told_apart_from_what_it_needs():
    lines = said(GROUP, FILE_SYSTEM).splitlines()
    assert lines[0] == "dev was destroyed, except for protected resources:"
    assert lines[1].startswith("  fs-1  aws:fsx/lustreFileSystem")
    assert lines[2] == "kept because protected resources depend on them:"
    assert lines[3].startswith("  sg-1  ")


def test_a_destroy_that_had_nothing_to_destroy_says_so():
    lines = said(GROUP, FILE_SYSTEM, gone=()).splitlines()
    assert lines[0] == "nothing of dev was destroyed, because all of it is protected:"


def test_the_commands_that_remove_it_are_complete():
    lines = said(FILE_SYSTEM, LINK, sandbox=True).splitlines()
    key = "trainyard:cluster.storage.data.deletion_protection"
    assert lines[-3:] == [
        f"  pulumi config set --stack dev --path '{key}' false",
        "  ./trainyard up dev --sandbox --yes",
        "  ./trainyard destroy dev --sandbox --yes",
    ]


def test_the_commands_for_a_copy_of_the_stack_file_read_the_copy():
    lines = said(FILE_SYSTEM, stack_file="/tmp/my copy.yaml", sandbox=True).splitlines()
    assert lines[-3].endswith("to `false` in /tmp/my copy.yaml")
    assert lines[-2] == "  ./trainyard up dev --sandbox --stack-file '/tmp/my copy.yaml' --yes"


def test_what_somebody_protected_by_hand_is_unprotected_by_its_urn():
    command = f"state unprotect --stack dev '{BY_HAND['urn']}' --yes"
    assert f"  pulumi {command}" in said(BY_HAND).splitlines()
    assert f"  pulumi --sandbox {command}" in said(BY_HAND, sandbox=True).splitlines()


def test_a_network_that_is_a_stack_of_its_own_has_one_switch():
    """Everything in it is protected; a command for each subnet would be too many."""
    inside = f"{URN}trainyard:architectures:NetworkArchitecture$trainyard:network:Vpc$"
    vpc = BY_HAND | {"urn": f"{inside}aws:ec2/vpc:Vpc::n", "id": "vpc-1"}
    subnet = BY_HAND | {"urn": f"{inside}aws:ec2/subnet:Subnet::n-0", "id": "subnet-1"}
    lines = said(vpc, subnet).splitlines()
    key = "trainyard:cluster.architecture.deletion_protection"
    assert lines.count(f"  pulumi config set --stack dev --path '{key}' false") == 1
    assert not [line for line in lines if "unprotect" in line]


def test_a_repository_of_images_has_a_switch_of_its_own():
    urn = f"{URN}trainyard:batch:ContainerRepository$aws:ecr/repository:Repository::images"
    lines = said(BY_HAND | {"urn": urn}).splitlines()
    key = "trainyard:cluster.architecture.repository.deletion_protection"
    assert f"  pulumi config set --stack dev --path '{key}' false" in lines


def test_what_the_stack_adopted_is_removed_from_the_stack_only():
    """Also below a switch that protects what the stack created."""
    inside = f"{URN}trainyard:architectures:NetworkArchitecture$trainyard:network:Vpc$"
    vpc = BY_HAND | {"urn": f"{inside}aws:ec2/vpc:Vpc::n", "id": "vpc-1"}
    adopted = vpc | {"retainOnDelete": True, "importID": "vpc-1"}
    lines = said(adopted, sandbox=True).splitlines()
    assert "they stay in the account" in lines[-3]
    assert lines[-2:] == [
        "  pulumi --sandbox state unprotect --stack dev --all --yes",
        "  ./trainyard destroy dev --sandbox --yes",
    ]
    lines = said(adopted, FILE_SYSTEM).splitlines()
    assert not [line for line in lines if "unprotect" in line]
    assert lines[-1] == "what the stack adopted stays in the account, and leaves the stack last"


def test_the_engines_advice_to_remove_the_stack_is_corrected():
    """`pulumi stack rm` alone deletes the stack file."""
    message = how_to_forget(target_of(find_stack_file("p5-cb"), sandbox=False))
    assert "it deletes Pulumi.p5-cb.yaml" in message
    assert message.endswith("\n  pulumi stack rm p5-cb --preserve-config")


def test_the_stack_of_the_sandbox_is_not_removed_with_pulumi():
    message = how_to_forget(target_of(find_stack_file("p5-cb"), sandbox=True))
    assert "it deletes Pulumi.p5-cb.yaml" in message
    assert "--preserve-config" not in message


def test_a_reservation_is_unprotected_by_the_key_of_its_entry():
    reservation = FILE_SYSTEM | {
        "urn": f"{URN}aws:ec2/capacityReservation:CapacityReservation::dev-training-reservation",
        "type": "aws:ec2/capacityReservation:CapacityReservation",
        "id": "cr-1",
        "inputs": {"tags": {"trainyard:reservation": "training"}},
    }
    key = "trainyard:cluster.reservations.training.deletion_protection"
    assert f"'{key}' false" in said(reservation)
