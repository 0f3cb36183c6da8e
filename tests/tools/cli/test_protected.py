"""What `destroy` says it has left, and how to remove it."""

from tools.cli.protected import explanation, read_state

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


def said(*resources, sandbox=False):
    kept = read_state(state(*resources))
    return explanation(kept, stack="dev", stack_file="Pulumi.dev.yaml", sandbox=sandbox)


def test_components_providers_and_what_is_only_read_are_no_objects_of_the_stack():
    assert [kept.identifier for kept in read_state(state(GROUP, *OTHERS))] == ["sg-1"]


def test_tags_that_are_a_list_name_no_storage():
    """As those of an Auto Scaling group."""
    (kept,) = read_state(state(GROUP | {"inputs": {"tags": [{"key": "a", "value": "b"}]}}))
    assert kept.storage is None


def test_an_empty_state_holds_nothing():
    assert read_state({"deployment": None}) == ()


def test_what_stays_is_told_apart_from_what_it_needs():
    lines = said(GROUP, FILE_SYSTEM).splitlines()
    assert lines[0] == "dev is destroyed but for what is protected:"
    assert lines[1].startswith("  fs-1  aws:fsx/lustreFileSystem")
    assert lines[2] == "kept because these need it:"
    assert lines[3].startswith("  sg-1  ")


def test_the_commands_that_remove_it_are_complete():
    lines = said(FILE_SYSTEM, LINK, sandbox=True).splitlines()
    key = "trainyard:cluster.storage.data.deletion_protection"
    assert lines[-3:] == [
        f"  pulumi config set --stack dev --path '{key}' false",
        "  ./trainyard up dev --sandbox --yes",
        "  ./trainyard destroy dev --sandbox --yes",
    ]


def test_what_somebody_protected_by_hand_is_unprotected_by_its_urn():
    assert f"  pulumi state unprotect '{BY_HAND['urn']}'" in said(BY_HAND).splitlines()
