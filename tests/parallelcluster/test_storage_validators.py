"""The real ParallelCluster accepts the shared storage of stack files that the program accepts.

One process answers for all tests here, as intended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.cluster_configs import Config, p4de, queue
from tests.support.parallelcluster import RAW
from tests.support.parallelcluster_validators import Validation, validate
from tests.support.sandbox_aws import Account
from tests.support.shared_storage import (
    EBS,
    EFS,
    LUSTRE,
    OLD_EFS,
    OLD_LUSTRE,
    OLD_ZFS,
    ZFS,
    Planned,
    config_with,
    planned,
)
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, PUBLIC_B
from trainyard.components.config.fsx_lustre import THROUGHPUTS, capacity_rule
from trainyard.components.config.storage import IOPS, SIZES_GIB
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_shared_storage
from trainyard.components.storage.storage_plan import NFS_PORTS
from trainyard.sandbox.aws.server import AwsServer

pytestmark = pytest.mark.parallelcluster

DATA = "s3://trainyard-sandbox-data"
SCRATCH = {"kind": "fsx-lustre", "mount_directory": "/fsx", "deployment_type": "SCRATCH_2"}
LINKED = {**LUSTRE, "data_repositories": [{"file_system_path": "/a", "s3_path": f"{DATA}/a"}]}
FROM_S3 = {**SCRATCH, "import_path": f"{DATA}/a", "export_path": f"{DATA}/b", "auto_import": "NEW"}

ACCEPTED: dict[str, dict[str, Any]] = {
    "pc": {"fsx": {**LUSTRE, "storage_capacity_gib": 4800}, "apps": EBS},
    "trn1": {
        "efs": {**EFS, "throughput_mode": "provisioned", "provisioned_throughput_mibps": 1024}
    },
    "trn1-blog": {"fsx": SCRATCH},
    "existing": {"fsx": OLD_LUSTRE, "efs": OLD_EFS, "zfs": OLD_ZFS},
    "openzfs": {"home": {**ZFS, "mount_directory": "/home"}},
    "linked": {"fsx": LINKED},
    "from-s3": {"fsx": FROM_S3},
    "raid": {"apps": {**EBS, "raid": {"type": 0}}},
    "tls": {"efs": {**OLD_EFS, "encryption_in_transit": True, "iam_authorization": True}},
}


def at(base: Mapping[str, Any], directory: str) -> dict[str, Any]:
    return {**base, "mount_directory": directory}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "same": ({"a": at(EBS, "/a"), "b": at(EFS, "/a")}, "DuplicateMountDirValidator"),
    "reserved": ({"a": at(EBS, "/opt/slurm")}, "SharedStorageMountDirValidator"),
    "none": ({"a": at(EBS, "/NONE")}, "ConfigSchemaValidator"),
    "long": ({"a" * 31: EBS}, "SharedStorageNameValidator"),
    "default": ({"default": EBS}, "SharedStorageNameValidator"),
    "two-lustre": ({"a": LUSTRE, "b": at(LUSTRE, "/b")}, "NumberOfStorageValidator"),
    "two-efs": ({"a": EFS, "b": at(EFS, "/b")}, "NumberOfStorageValidator"),
    "six-ebs": ({f"s{n}": at(EBS, f"/s{n}") for n in range(6)}, "NumberOfStorageValidator"),
    "twice": ({"a": OLD_EFS, "b": at(OLD_EFS, "/b")}, "DuplicateNameValidator"),
    "short-id": ({"a": {**OLD_LUSTRE, "file_system_id": "fs-01234567"}}, "ConfigSchemaValidator"),
    "two-subnets": ({"a": LUSTRE}, "ManagedFsxMultiAzValidator"),
}


def cluster(found: Planned, *, subnets: tuple[str, ...] = (PRIVATE_B,)) -> Config:
    """Return an On-Demand cluster with the planned shared storage."""

    def change(config: Config) -> None:
        entries = [render_shared_storage(each) for each in found.storage.entries]
        # The volume of the account represents one that the stack would have created.
        config["SharedStorage"] = resolve(entries, lambda _: OLD_ZFS["volume_id"])
        queue(config)["Networking"]["SubnetIds"] = list(subnets)
        queue(config)["ComputeResources"] = [
            {"Name": "g4dn", "InstanceType": "g4dn.8xlarge", "MaxCount": 2}
        ]

    return p4de(change)


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    with AwsServer(keep_time=False) as running:
        yield running


def ask(server: AwsServer, configs: Mapping[str, Config]) -> dict[str, Validation]:
    return validate(configs, account=server.access, region="us-west-2")


@pytest.fixture(scope="module")
def answers(server: AwsServer) -> dict[str, Validation]:
    accepted = {name: cluster(planned(storage)) for name, storage in ACCEPTED.items()}
    refused = {f"no-{name}": cluster(refusal(name), subnets=subnets(name)) for name in REFUSED}
    return ask(server, accepted | refused)


def subnets(name: str) -> tuple[str, ...]:
    return (PRIVATE_A, PRIVATE_B) if name == "two-subnets" else (PRIVATE_B,)


def refusal(name: str) -> Planned:
    return planned(config_with(REFUSED[name][0], RAW), queue_subnets=subnets(name))


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_storage_of_the_reference_clusters_passes(name, answers: dict[str, Validation]):
    """PC-15, PC-16, TRN-07, TRN-27."""
    assert planned(ACCEPTED[name]).problems == {}
    assert answers[name].loaded, answers[name].errors
    assert answers[name].errors == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_parallelcluster_refuses_is_refused_before(name, answers: dict[str, Validation]):
    assert answers[f"no-{name}"].refused_by >= {REFUSED[name][1]}
    assert refusal(name).problems


def test_the_group_of_openzfs_lets_in_what_parallelcluster_looks_for(server: AwsServer):
    """F7: the same ports and subnets as `trainyard.components.storage.open_zfs`."""
    account = Account(server)
    opened = {"all": NFS_PORTS} | {
        f"no-{missing[0]}": tuple(ports for ports in NFS_PORTS if ports != missing)
        for missing in NFS_PORTS
    }
    volumes = {name: open_zfs(account, ports) for name, ports in opened.items()}
    configs = {
        name: cluster(planned({"zfs": {**OLD_ZFS, "volume_id": volume}}))
        for name, volume in volumes.items()
    }
    refused = {name: answer.refused_by for name, answer in ask(server, configs).items()}
    closed = {name: {"ExistingFsxNetworkingValidator"} for name in opened if name != "all"}
    assert refused == {"all": set(), **closed}


def open_zfs(account: Account, ports: tuple[tuple[int, int], ...]) -> str:
    """Create a file system whose group allows two subnets, and return its root volume."""
    ec2 = account.client("ec2")
    subnets = ec2.describe_subnets(SubnetIds=[PUBLIC_B, PRIVATE_B])["Subnets"]
    group = ec2.create_security_group(
        GroupName=f"nfs-{len(ec2.describe_security_groups()['SecurityGroups'])}",
        Description="NFS",
        VpcId=subnets[0]["VpcId"],
    )["GroupId"]
    ranges = [{"CidrIp": subnet["CidrBlock"]} for subnet in subnets]
    ec2.authorize_security_group_ingress(
        GroupId=group,
        IpPermissions=[
            {"IpProtocol": protocol, "FromPort": first, "ToPort": last, "IpRanges": ranges}
            for protocol in ("tcp", "udp")
            for first, last in ports
        ],
    )
    made = account.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[PRIVATE_B],
        SecurityGroupIds=[group],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
    )
    return made["FileSystem"]["OpenZFSConfiguration"]["RootVolumeId"]


@st.composite
def lustre(draw: st.DrawFn) -> dict[str, Any]:
    kinds = [("SCRATCH_1", "SSD", None), ("SCRATCH_2", "SSD", None)]
    kinds += [(*kind, value) for kind, values in THROUGHPUTS.items() for value in values]
    deployment, disks, throughput = draw(st.sampled_from(kinds))
    rule = capacity_rule(deployment, disks, throughput, efa=False)
    assert rule is not None
    wanted: dict[str, Any] = {
        "kind": "fsx-lustre",
        "mount_directory": draw(st.sampled_from(["/fsx", "/home", "/shared/data"])),
        "deployment_type": deployment,
        "storage_type": disks,
        "storage_capacity_gib": rule.nearest(draw(st.integers(1, 50_000))),
        "compression": draw(st.sampled_from(["LZ4", "NONE"])),
        "deletion_protection": draw(st.booleans()),
    }
    if throughput is not None:
        wanted["per_unit_storage_throughput"] = throughput
        wanted["backup_retention_days"] = draw(st.integers(0, 90))
    if disks == "HDD":
        wanted["drive_cache"] = draw(st.sampled_from(["NONE", "READ"]))
    if draw(st.booleans()):
        wanted["weekly_maintenance"] = "7:03:00"
    return wanted


@st.composite
def volume(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(SIZES_GIB)))
    smallest, largest = SIZES_GIB[kind]
    size = draw(st.integers(max(smallest, 6), largest))
    wanted: dict[str, Any] = {**EBS, "volume_type": kind, "size_gib": size}
    if kind in IOPS and draw(st.booleans()):
        wanted["iops"] = draw(st.integers(IOPS[kind].smallest, IOPS[kind].most(size)))
    if kind == "gp3":
        most = wanted.get("iops", IOPS[kind].default) // 4
        wanted["throughput_mibps"] = draw(st.integers(125, min(most, 1000)))
    if draw(st.booleans()):
        wanted["raid"] = {"type": draw(st.sampled_from([0, 1])), "number_of_volumes": 3}
    return wanted


@settings(
    max_examples=1,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(lustre(), volume()), min_size=30, max_size=30))
def test_whatever_is_accepted_passes_the_real_validators(server: AwsServer, drawn):
    """PC-15, PC-16: one process for a list of thirty clusters."""
    storages = {f"drawn-{number}": {"fsx": a, "apps": b} for number, (a, b) in enumerate(drawn)}
    plans = {name: planned(storage) for name, storage in storages.items()}
    assert {name: plan.problems for name, plan in plans.items() if plan.problems} == {}
    answers = ask(server, {name: cluster(plan) for name, plan in plans.items()})
    refused = {name: (storages[name], it.errors) for name, it in answers.items() if it.errors}
    assert refused == {}
