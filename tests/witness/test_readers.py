"""What reads answers of AWS copes with all that is known about them.

Answers have all keys of a table, and then each key less that some recorded objects lack, in each
state that was recorded. A reader returns, or refuses with the name of the call.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.tracked import ROOT, tracked
from tests.witness.support.generated import (
    ACCOUNT,
    NAME,
    Answering,
    optional_keys,
    replayed,
    sample,
)
from tests.witness.support.tables import tables
from trainyard.components.account import reader as reader_of_account
from trainyard.components.account.answers import AccountUnreachableError
from trainyard.components.account.reader import AccountReader
from trainyard.components.batch import account
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.catalog.quotas import QUOTAS, vcpu_quota
from trainyard.components.compute import lookup as compute_lookup
from trainyard.components.eks import lookup as eks_lookup
from trainyard.components.named import lookup as named_lookup
from trainyard.components.named.lookup import NotReadError
from trainyard.components.network import lookup as network_lookup
from trainyard.components.parallelcluster import lookup as parallelcluster_lookup
from trainyard.components.quotas import lookup as quotas_lookup
from trainyard.components.storage import lookup as storage_lookup
from trainyard.diagnosis import node_groups
from trainyard.importing.live.answers import (
    owner_of,
    read_attached,
    read_inline,
    read_profiles,
    read_templates,
)
from trainyard.importing.live.batch.conversion import read_answers as read_batch_answers
from trainyard.importing.live.eks import answers as eks_answers
from trainyard.init import account_listing

VPC, SUBNET, GROUP = sample("id vpc"), sample("id subnet"), sample("id sg")
RESERVATION, FILES = sample("id cr"), sample("id fs")
TOPIC, KEY, FUNCTION = sample("arn sns"), sample("arn kms key"), sample("arn lambda function")
IMAGE = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/{NAME}:{NAME}"
TEMPLATE = ("LaunchTemplateId", sample("id lt"), "1")
VCPUS = vcpu_quota("p5", "on-demand")
DEPLOYED = {"HeadNode": {"Ssh": {"KeyName": NAME}}}
Read = Callable[[AccountReader], object]
QUOTA_CALLS = sorted({quota.call for quota in QUOTAS.values() if quota.call})


def _live_cluster(reader: AccountReader) -> object:
    found = eks_answers.read_cluster(reader, NAME)
    return found and eks_answers.read_answers(reader, found, with_file_systems=True)


def _group(reader: AccountReader) -> object:
    return node_groups.read_group(
        reader.eks,
        reader.client("autoscaling"),
        cluster=NAME,
        name=NAME,
        output={"node_group": NAME},
        mapped_roles=(),
    )


READERS: dict[str, Read] = {
    "account": lambda r: r.account_id(),
    "vpc": lambda r: network_lookup.look_up_vpc(r, VPC),
    "subnets": lambda r: network_lookup.look_up_subnets(r, [SUBNET]),
    "zones": lambda r: network_lookup.look_up_zones(r),
    "reservation": lambda r: capacity_lookup.look_up_reservation(r, RESERVATION),
    "key pair": lambda r: compute_lookup.key_pair_type(r, NAME),
    "image": lambda r: compute_lookup.look_up_image(r, sample("id ami")),
    "newest image": lambda r: compute_lookup.newest_image(r, NAME),
    "zones of a type": lambda r: compute_lookup.offered_zone_ids(r, "p5.48xlarge"),
    "regions": reader_of_account.enabled_regions,
    "types": lambda r: compute_lookup.look_up_types(r, ["p5.48xlarge"]),
    "UltraServers": capacity_lookup.look_up_ultraservers,
    "invitations": capacity_lookup.look_up_invitations,
    "vCPU quota": lambda r: quotas_lookup.look_up_vcpu_quota(r, VCPUS),
    "offer": lambda r: eks_lookup.look_up_offer(r, "vpc-cni", "1.36"),
    "key of a head node": lambda r: parallelcluster_lookup.look_up_deployed_key(r, DEPLOYED),
    "listing": lambda r: account_listing.list_account(r, ["p5.48xlarge"]),
    "reservations": capacity_lookup.every_reservation,
    "file systems": lambda r: storage_lookup.described_file_systems(r, [FILES]),
    "EFS": lambda r: storage_lookup.described_efs(r, FILES),
    "holders": lambda r: capacity_lookup.look_up_holders(r, [RESERVATION]),
    "ingress": lambda r: network_lookup.ingress_of(r, frozenset({GROUP})),
    "VPC layout": lambda r: network_lookup.look_up_layout(r, VPC),
    "inhabitants": lambda r: network_lookup.vpc_inhabitants(r, VPC, ()),
    "policy": lambda r: named_lookup.look_up_policy(r, NAME),
    "KMS key": lambda r: named_lookup.look_up_kms_key(r, KEY),
    "topic": lambda r: named_lookup.look_up_topic(r, TOPIC),
    "function": lambda r: named_lookup.look_up_function(r, FUNCTION),
    "script": lambda r: named_lookup.look_up_script(r, "s3://bucket/script"),
    "container image": lambda r: named_lookup.look_up_container_image(r, IMAGE),
    "owner of a cluster": lambda r: named_lookup.look_up_cluster_owner(r, NAME),
    "owner of a repository": lambda r: named_lookup.look_up_repository_owner(r, NAME),
    "owner of a queue": lambda r: named_lookup.look_up_queue_owner(r, NAME),
    "owner of a definition": lambda r: named_lookup.look_up_definition_owner(r, NAME),
    "owner of a stack": lambda r: named_lookup.look_up_stack_owner(r, NAME),
    "owner of a group": lambda r: named_lookup.look_up_group_owner(r, NAME),
    "log group": lambda r: named_lookup.look_up_log_group_owner(r, NAME),
    "cluster": lambda r: eks_lookup.look_up_cluster(r, NAME, with_aws_auth=False),
    "versions": eks_lookup.look_up_versions,
    "environments": lambda r: account.look_up_disabled_environments(r, NAME),
    "default group": lambda r: account.look_up_default_group(r, VPC),
    "Slurm stack": lambda r: parallelcluster_lookup.look_up_deployed(r, NAME),
    "fleet": lambda r: parallelcluster_lookup.look_up_fleet_stopped(r, NAME),
    "node group": _group,
    "imported cluster": _live_cluster,
    "imported environments": lambda r: read_batch_answers(r, NAME, with_repositories=True),
    "imported templates": lambda r: read_templates(r, [TEMPLATE], str),
    "imported profile": lambda r: read_profiles(r, [NAME]),
    "imported role": lambda r: (read_attached(r, NAME), list(read_inline(r, NAME))),
    "imported owner": lambda r: owner_of(r, {}),
    **{
        f"quota of {call}": lambda r, call=call: quotas_lookup.use_of_others(r, call, NAME)
        for call in QUOTA_CALLS
    },
}

NOT_READ_HERE = {
    *("efs_facts", "every_file_system", "find", "quota_readings"),  # parts of others
    *("get", "look_up_images", "named_readings", "pool_image_readings", "public_image_readings"),
    *("read_aws_auth", "readable", "security_group_rules", "subnet_facts", "token"),
    *("vpc_attribute", "with_ipv4"),
    *("look_up_access_point", "look_up_bucket", "look_up_placement_group", "look_up_workspace"),
}
"""Lookups without a reader: the calls of the last line are not witnessed."""
OF_ONE_KEY = {"ec2.DescribeVpcAttribute"}
"""Operations that answer only the key that is asked for."""
Unread = tuple[str, str, str]
"""Reader, state, and the operation and key that the answer lacks."""


@pytest.fixture(scope="module")
def reader() -> Iterator[AccountReader]:
    """A reader whose clients are made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "x")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        yield AccountReader(region="us-west-2")


def read(reader: AccountReader, name: str, answering: Answering) -> str:
    """Return how a reader refused an answer; empty if it read it."""
    try:
        with replayed(answering):
            found = READERS[name](reader)
            if isinstance(found, Iterator):
                list(found)
    except AccountUnreachableError as error:
        return str(error)
    except NotReadError:
        return reader.unreadable[-1]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def facts_of(reader: AccountReader, name: str) -> object:
    """Return what a reader returns of an answer with all keys."""
    with replayed(Answering()):
        found = READERS[name](reader)
        return list(found) if isinstance(found, Iterator) else found


def variants(reader: AccountReader, name: str) -> Iterator[Answering]:
    """Yield answers with all keys, in each state, and then each with one key less."""
    first = Answering()
    read(reader, name, first)
    yield first
    for operation in sorted(first.asked & tables().keys() - OF_ONE_KEY):
        for state in filter(None, tables()[operation].states):
            yield Answering(state)
        for state in states_of(operation):
            for path in optional_keys(operation, state):
                yield Answering(state, (operation, path))


def states_of(operation: str) -> list[str]:
    """Return the states of the objects of an operation; the empty one if they have none."""
    return [state for state in tables()[operation].states if state] or [""]


def unread(reader: AccountReader, name: str) -> dict[Unread, str]:
    """Return the answers that a reader refuses, with its words."""
    return {
        (name, answering.state, " ".join(answering.without).strip()): words
        for answering in variants(reader, name)
        if (words := read(reader, name, answering))
    }


@pytest.mark.parametrize("name", READERS)
def test_every_known_answer_is_read(reader: AccountReader, name: str) -> None:
    """An object that lacks a value is left out, and that is said."""
    assert not unread(reader, name)


def test_facts_do_not_depend_on_the_time_zone(
    reader: AccountReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto3 turns the numbers of some services into times in the zone of the machine."""
    facts: list[dict[str, object]] = []
    try:
        for zone in ("UTC", "America/Chicago"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            facts.append({name: facts_of(reader, name) for name in READERS})
    finally:
        monkeypatch.undo()
        time.tzset()
    utc, chicago = facts
    assert [name for name in READERS if utc[name] != chicago[name]] == []


def test_every_lookup_is_among_the_readers() -> None:
    """Those with a stack's configuration make the same calls."""
    text = Path(__file__).read_text(encoding="utf-8")
    found = set[str]()
    for path in tracked(".py"):
        if path.parts[0] == "components" and path.stem in ("lookup", "reader"):
            for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    arguments = [each.arg for each in node.args.args]
                    if arguments[:1] == ["reader"] and "config" not in arguments:
                        found.add(node.name)
    assert sorted(name for name in found if f".{name}" not in text) == sorted(NOT_READ_HERE)


def test_a_refusal_names_the_call(reader: AccountReader) -> None:
    less = ("ec2.DescribeCapacityReservations", "CapacityReservations[].InstanceType")
    assert "ec2:DescribeCapacityReservations" in read(reader, "reservation", Answering("", less))


def test_most_readers_are_read(reader: AccountReader) -> None:
    """Otherwise the tests would prove little."""
    assert sum(not read(reader, name, Answering()) for name in READERS) == len(READERS)
