from datetime import UTC, date, datetime

import pytest

from tests.support.eks import (
    P5_CB,
    STACK_FILE,
    block,
    changed,
    config,
    p5,
    schema_problems,
)
from tests.support.kubernetes import DEFAULT
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError

SET = "pulumi config set --stack p5-cb --path 'trainyard:cluster."


def test_a_complete_configuration_is_read():
    assert config(P5_CB).architecture.node_groups["p5"].instance_type == "p5.48xlarge"


def test_what_the_file_leaves_out_has_defaults():
    group = config(P5_CB).architecture.node_groups["p5"]
    assert (group.minimum, group.placement.group, group.interface_layout) == (0, "auto", "efa-only")


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        config(P5_CB).name = "other"  # pyright: ignore[reportAttributeAccessIssue] the point


def test_numbers_stay_text_in_tags_and_labels():
    """`pulumi config set --path` converts texts that look like numbers."""
    tags = config(changed(tags__team=7, tags__production=True)).tags
    assert tags == {"team": "7", "production": "true"}


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("2026-11-20T11:30:00Z", id="text"),
        pytest.param(datetime(2026, 11, 20, 11, 30, tzinfo=UTC), id="time-read-by-yaml"),
        pytest.param("2026-11-20T12:30:00+01:00", id="another-offset"),
        pytest.param("2026-11-20 11:30:00 +0000 UTC", id="unquoted-as-the-engine-hands-it-on"),
    ],
)
def test_times_are_read_in_every_spelling_that_yaml_gives(written):
    reservation = config(block(starts_at=written)).reservations["block"]
    assert reservation.starts_at == datetime(2026, 11, 20, 11, 30, tzinfo=UTC)


def test_entries_are_in_the_order_in_which_the_engine_hands_them_on():
    """Pulumi sorts keys: `up` creates what `check` reads in the file."""
    raw = changed(tags__zone="b", tags__team="a")
    assert list(config(raw).tags) == ["team", "zone"]


@pytest.mark.parametrize("key", [date(2026, 12, 1), 7, None, (1, 2)])
def test_a_key_that_yaml_does_not_read_as_text_is_text(key):
    raw = changed(tags__team="a")
    raw["tags"] = {key: "b", **raw["tags"]}
    assert "b" in config(raw).tags.values()


def test_every_value_that_only_the_user_knows_is_listed_with_its_command():
    raw = changed(
        network__vpc_id=...,
        network__public_subnet_ids=...,
        network__private_subnet_ids=...,
        reservations__block__reservation_id=...,
    )
    found = schema_problems(raw)
    assert {path: problem.remedy.split("  #")[0] for path, problem in found.items()} == {
        "network.vpc_id": f"{SET}network.vpc_id' vpc-…",
        "network.public_subnet_ids": f"{SET}network.public_subnet_ids[0]' subnet-…",
        "network.private_subnet_ids": f"{SET}network.private_subnet_ids[0]' subnet-…",
        "reservations.block.reservation_id": f"{SET}reservations.block.reservation_id' cr-…",
    }


def test_a_missing_part_is_told_key_by_key():
    """For an entry of several possible kinds, only the `kind` is requested."""
    assert set(schema_problems({"name": "x"})) == {"network", "architecture"}
    without = changed(architecture={"kind": "eks"})
    assert set(schema_problems(without)) == {"architecture.node_groups"}


def test_problems_in_different_places_are_reported_at_once():
    raw = p5(efa_enabled="yes", desired=9)
    raw["network"]["vpc_id"] = "vpc-1"
    raw["name"] = "a b"
    assert set(schema_problems(raw)) == {
        "name",
        "network.vpc_id",
        "architecture.node_groups.p5.efa_enabled",
    }


@pytest.mark.parametrize(
    ("raw", "path", "words"),
    [
        pytest.param(
            block(reservation_id="cr-123"),
            "reservations.block.reservation_id",
            "17 hexadecimal digits",
            id="reservation-id",
        ),
        pytest.param(
            changed(network__vpc_id="vpc-xyz"), "network.vpc_id", "the id of a VPC", id="vpc-id"
        ),
        pytest.param(
            changed(network__private_subnet_ids=["subnet-1"]),
            "network.private_subnet_ids[0]",
            "the id of a subnet",
            id="subnet-id",
        ),
        pytest.param(
            p5(availability_zone="Oregon"),
            "architecture.node_groups.p5.availability_zone",
            "a zone by name",
            id="zone",
        ),
        pytest.param(
            changed(architecture__endpoint={"public_access_cidrs": ["10.0.0.1/16"]}),
            "architecture.endpoint.public_access_cidrs[0]",
            "host bits set",
            id="cidr",
        ),
        pytest.param(
            p5(instance_type="p5"),
            "architecture.node_groups.p5.instance_type",
            "an EC2 instance type",
            id="instance-type",
        ),
        pytest.param(
            p5(labels={"team name": "x"}),
            'architecture.node_groups.p5.labels["team name"]',
            "is not a valid name",
            id="label-key",
        ),
        pytest.param(changed(name="x" * 101), "name", "at most 100", id="cluster-name"),
    ],
)
def test_refuses_a_value_of_the_wrong_form(raw, path, words):
    problem = schema_problems(raw)[path]
    assert words in problem.problem
    assert problem.found is not None


@pytest.mark.parametrize(
    ("raw", "path", "remedy"),
    [
        pytest.param(
            changed(architecture__kubernetes_version=1.36),
            "architecture.kubernetes_version",
            f'in quotes in the stack file: "{DEFAULT}"',
            id="version-without-quotes",
        ),
        pytest.param(
            p5(desired="2"),
            "architecture.node_groups.p5.desired",
            "desired' 2",
            id="number-in-quotes",
        ),
        pytest.param(
            p5(efa_enabled="true"),
            "architecture.node_groups.p5.efa_enabled",
            "efa_enabled' true",
            id="boolean-in-quotes",
        ),
        pytest.param(
            block(ends_at="2026-11-20T11:30:00"),
            "reservations.block.ends_at",
            "offset",
            id="time-without-offset",
        ),
        pytest.param(
            changed(network__public_subnet_ids="subnet-0123456789abcdef0"),
            "network.public_subnet_ids",
            "a list",
            id="text-for-a-list",
        ),
    ],
)
def test_refuses_a_value_of_the_wrong_type(raw, path, remedy):
    assert remedy in schema_problems(raw)[path].remedy


def test_an_unknown_key_names_the_nearest_one():
    problem = schema_problems(p5(root_volum={"size_gib": 200}))[
        "architecture.node_groups.p5.root_volum"
    ]
    assert "the nearest is `root_volume`" in problem.problem
    assert problem.remedy.startswith("rename it to `root_volume`")


def test_an_unknown_key_beside_the_one_that_is_meant_is_removed():
    problem = schema_problems(p5(instance_typ="p5.48xlarge"))[
        "architecture.node_groups.p5.instance_typ"
    ]
    assert problem.remedy.startswith("pulumi config rm ")
    assert problem.remedy.endswith("`instance_type` is set already")


def test_an_unknown_kind_names_the_nearest_one_and_hides_what_depends_on_it():
    found = schema_problems(block(kind="capacity-blok"))
    assert list(found) == ["reservations.block.kind"]
    assert found["reservations.block.kind"].remedy.endswith("capacity-block")


def test_an_architecture_that_does_not_exist_yet_is_the_only_problem():
    found = schema_problems(changed(architecture={"kind": "slurm", "queues": []}))
    assert list(found) == ["architecture.kind"]
    assert found["architecture.kind"].allowed == "eks, parallelcluster, batch, network"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(p5(desired=3), "architecture.node_groups.p5.desired", id="E9-above-maximum"),
        pytest.param(
            p5(minimum=2, desired=1), "architecture.node_groups.p5.desired", id="E9-below-minimum"
        ),
        pytest.param(
            p5(placement={"group": "existing"}),
            "architecture.node_groups.p5.placement.name",
            id="B1-existing-group-without-name",
        ),
        pytest.param(
            p5(placement={"group": "none", "name": "g"}),
            "architecture.node_groups.p5.placement.name",
            id="B2-name-without-group",
        ),
        pytest.param(
            block(starts_at="2026-11-20T00:00:00Z", ends_at="2026-11-19T00:00:00Z"),
            "reservations.block.ends_at",
            id="block-that-ends-before-it-starts",
        ),
        pytest.param(
            p5(root_volume={"size_gib": 20, "iops": 16000}),
            "architecture.node_groups.p5.root_volume.iops",
            id="more-operations-than-the-size-gives",
        ),
        pytest.param(
            p5(root_volume={"throughput_mibps": 1000}),
            "architecture.node_groups.p5.root_volume.throughput_mibps",
            id="more-throughput-than-the-operations-give",
        ),
    ],
)
def test_refuses_a_contradiction_at_the_key_to_change(raw, path):
    assert list(schema_problems(raw)) == [path]


@pytest.mark.parametrize("key", ["vpc_id", "trainyard:vpc_id"])
def test_refuses_a_key_beside_the_cluster(key):
    problem = schema_problems(P5_CB, stray_keys=(key,))["trainyard:vpc_id"]
    assert "`--path` is forgotten" in problem.problem
    assert "pulumi config rm --stack p5-cb 'trainyard:vpc_id'" in problem.remedy


@pytest.mark.parametrize("raw", [None, "text", ["list"], 7])
def test_refuses_a_cluster_that_is_no_mapping(raw):
    with pytest.raises(ConfigError, match="trainyard:cluster\n    problem: is"):
        load_stack_config(raw, stack_file=STACK_FILE)


def test_the_message_has_a_paragraph_for_each_problem():
    with pytest.raises(ConfigError) as caught:
        config(block(reservation_id="cr-1"))
    assert str(caught.value) == (
        "Pulumi.p5-cb.yaml: 1 problem; nothing was changed\n"
        "\n"
        "  trainyard:cluster.reservations.block.reservation_id\n"
        "    problem: is not the id of a capacity reservation: `cr-` and 17 hexadecimal digits\n"
        "    found:   cr-1\n"
        "    allowed: for example cr-0123456789abcdef0\n"
        f"    fix:     {SET}reservations.block.reservation_id' cr-…"
    )


@pytest.mark.parametrize("name", ["p5-cb", "organization/trainyard/p5-cb"])
def test_a_stack_does_not_live_in_its_own_network(name):
    """It would look for its own outputs, which do not exist before the first `up`."""
    found = schema_problems(changed(network={"kind": "stack-reference", "stack": name}))
    assert "is the stack itself" in found["network.stack"].problem
    assert "kind: new-vpc" in found["network.stack"].remedy


def test_a_stack_of_the_same_name_in_another_project_is_another():
    network = {"kind": "stack-reference", "stack": "acme/network/p5-cb"}
    loaded = config(changed(network=network))
    assert (loaded.network_stack, loaded.network.is_unread) == ("acme/network/p5-cb", True)
    assert config(P5_CB).network_stack is None
