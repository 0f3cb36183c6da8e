"""The emulated account has its own facts of AWS; here they are compared with the program's.

Each side takes them from its sources, which stand in its modules. Where they differ on purpose, the
test says so: one of them is older, or asks for more.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.instance_types import EFA_TYPES, each_family
from trainyard.components import naming, tagging
from trainyard.components.capacity.lookup import instance_count
from trainyard.components.catalog import (
    capacity_blocks,
    kueue,
    neuron,
    parallelcluster,
    quotas,
    versions,
)
from trainyard.components.catalog.efa import HUGE_PAGE_MIB, reserved_huge_pages
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.components.catalog.quotas import vcpu_quota
from trainyard.sandbox import instance_types as sandbox_types
from trainyard.sandbox.account import load
from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws import service_quotas
from trainyard.sandbox.aws.ec2 import capacity_block_terms as terms
from trainyard.sandbox.aws.eks import versions as eks_versions
from trainyard.sandbox.aws.eks.addons import default_version, offered_versions
from trainyard.sandbox.faults.kinds import is_named
from trainyard.sandbox.kubernetes.control_planes import CONTROLLERS, SCHEDULERS
from trainyard.sandbox.kubernetes.device_plugins import (
    EFA,
    NEURON_CORE,
    NEURON_DEVICE,
    NVIDIA_GPU,
    device_counts,
)
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import NodeConfig, build_node
from trainyard.sandbox.parallelcluster.provider import model as provider_naming

FRACTIONS_OF_GPUS = {
    *("g6f.large", "g6f.xlarge", "g6f.2xlarge", "g6f.4xlarge", "gr6f.4xlarge"),
}
"""Types of which EC2 says that they have no whole GPU."""


def known(catalog: InstanceType) -> dict[str, object]:
    """What the catalog knows of a type, in the names of the sandbox."""
    found = catalog.accelerators
    return {
        "name": catalog.name,
        "architecture": catalog.architecture,
        "vcpus": catalog.vcpus,
        "memory_mib": catalog.memory_mib,
        "local_nvme_gb": catalog.local_nvme_gb,
        "interfaces_of_first_card": catalog.network_cards[0].maximum_interfaces,
        "addresses_per_interface": catalog.ipv4_addresses_per_interface,
        "accelerators": found and (found.manufacturer, found.model, found.count),
    }


@each_family
def test_the_catalog_has_the_machines_that_ec2_has(family: list[InstanceType]) -> None:
    for each in family:
        ours, theirs = known(each), sandbox_types.instance_type(each.name)
        made = theirs.accelerators
        compared = {name: getattr(theirs, name) for name in ours if name != "accelerators"}
        compared["accelerators"] = made and (made.maker, made.model, made.count)
        assert compared == ours


def test_types_without_a_whole_gpu_are_the_only_ones_with_another_number_for_slurm() -> None:
    nvidia = {each: sandbox_types.instance_type(each) for each in sandbox_types.nvidia_types()}
    found = {
        name
        for name, each in nvidia.items()
        if each.accelerators and each.accelerators.whole != each.accelerators.count
    }
    assert found == FRACTIONS_OF_GPUS
    assert nvidia.keys() == {name for name, each in INSTANCE_TYPES.items() if each.has_nvidia_gpus}


@each_family
def test_the_program_expects_the_devices_that_the_plugins_find(family: list[InstanceType]) -> None:
    for each in family:
        machine, found = sandbox_types.instance_type(each.name), each.accelerators
        is_neuron = found is not None and found.manufacturer == "neuron"
        counts = {NVIDIA_GPU: found.count if found and each.has_nvidia_gpus else 0, EFA: 0}
        if found and is_neuron:
            cores = neuron.neuron_cores(found.model, found.count)
            counts |= {NEURON_DEVICE: found.count, NEURON_CORE: cores}
        assert device_counts(machine, 0) == counts


def test_resources_of_neuron_have_the_same_names() -> None:
    assert (neuron.NEURON_DEVICE, neuron.NEURON_CORE) == (NEURON_DEVICE, NEURON_CORE)


def test_a_node_with_efa_has_the_huge_pages_that_the_program_counts_on() -> None:
    for each in EFA_TYPES:
        instance = Instance(
            instance_id="i-0123456789abcdef0",
            instance_type=each.name,
            image_id="ami-0123456789abcdef0",
            region="us-west-2",
            availability_zone="us-west-2b",
            zone_id="usw2-az1",
            private_dns_name="ip-10-0-1-2.us-west-2.compute.internal",
            private_ip_address="10.0.1.2",
            efa_interfaces=1,
            security_group_ids=(),
            instance_profile="",
            root_volume_gib=100,
            user_data=b"",
            tags={},
        )
        node = build_node(instance, sandbox_types.instance_type(each.name), NodeConfig(), None)
        pages_mib = reserved_huge_pages(each.vcpus) * HUGE_PAGE_MIB
        assert node["status"]["capacity"]["hugepages-2Mi"] == f"{pages_mib}Mi"


def test_the_program_asks_for_the_blocks_that_ec2_sells() -> None:
    days = range(-1, 400)
    sold = [each for each in days if terms.is_sold(each)]
    assert [each for each in days if capacity_blocks.is_duration(each)] == sold
    assert (sold[-1], terms.LATEST_START) == (
        capacity_blocks.MOST_DAYS,
        capacity_blocks.LATEST_START,
    )
    assert capacity_blocks.MOST_INSTANCES == terms.MOST_INSTANCES
    assert capacity_blocks.EXTENDABLE_STATES == terms.EXTENDABLE
    assert capacity_blocks.EXTENDABLE_BEFORE_END == (terms.LAST_EXTENSION, terms.FIRST_EXTENSION)


def test_ultraservers_have_the_same_instances_and_accelerators() -> None:
    ours = {
        name: (each.instance_type, each.instances)
        for name, each in capacity_blocks.ULTRASERVERS.items()
    }
    theirs = {name: (e.instance_type, e.instances) for name, e in terms.ULTRASERVERS.items()}
    assert ours == theirs
    trn2 = capacity_blocks.ULTRASERVERS["u-trn2x64"]
    machine = sandbox_types.instance_type(trn2.instance_type).accelerators
    assert machine is not None
    assert trn2.accelerators == machine.count * trn2.instances


@each_family
def test_the_program_expects_the_end_of_the_instances_when_ec2_begins(
    family: list[InstanceType],
) -> None:
    sold_whole = {each.instance_type for each in terms.ULTRASERVERS.values()}
    for each in family:
        begins = terms.terminated_before_end(ultraserver=each.name in sold_whole)
        assert capacity_blocks.terminated_before_end(each.name) == begins >= timedelta(minutes=30)


def test_the_program_reads_the_tags_of_a_block() -> None:
    tags = [{"Key": key, "Value": value} for key, value in terms.tags_of_aws(3).items()]
    answer = {"TotalInstanceCount": 0, "ReservationType": "capacity-block", "Tags": tags}
    assert (instance_count(answer), terms.bought_count(answer)) == (3, 3)
    assert {each["Key"] for each in tags} == {capacity_blocks.BOUGHT_TAG, capacity_blocks.TYPE_TAG}


def test_the_program_knows_when_eks_supports_a_kubernetes_version() -> None:
    ours, theirs = versions.STANDARD_SUPPORT_ENDS, eks_versions.STANDARD_SUPPORT_ENDS
    assert ours == {minor: theirs[minor] for minor in ours}
    # EKS has run versions that the program never did.
    assert theirs.keys() - ours.keys() == {"1.28"}
    assert eks_versions.DEFAULT == versions.DEFAULT_KUBERNETES_VERSION
    assert eks_versions.KUBELET_SKEW == versions.KUBELET_SKEW
    assert versions.minor_number("v1.35.3-eksbuild.29") == 35


def test_the_account_has_the_node_images_that_the_program_pins() -> None:
    """After a release was pinned: add it to `NODE_RELEASES` of sandbox/aws/eks/versions.py."""
    pinned = {minor: each.ami_release_version for minor, each in versions.EKS_VERSIONS.items()}
    assert pinned == eks_versions.NODE_RELEASES


OLDER_THAN_THE_DEFAULT = {
    **dict.fromkeys(
        [(minor, "amazon-cloudwatch-observability") for minor in versions.EKS_VERSIONS],
        ("v6.4.0-eksbuild.1", "v6.7.0-eksbuild.1"),
    ),
    ("1.34", "aws-ebs-csi-driver"): ("v1.64.0-eksbuild.1", "v1.66.0-eksbuild.1"),
    ("1.35", "aws-ebs-csi-driver"): ("v1.64.0-eksbuild.1", "v1.66.0-eksbuild.1"),
}
"""What the program pins, and what was the default of EKS in September 2026."""


def test_eks_offers_the_add_ons_that_the_program_pins() -> None:
    """After a version was pinned: add it to sandbox/aws/eks/addons.py."""
    others: dict[tuple[str, str], tuple[str, str]] = {}
    for minor, pins in versions.EKS_VERSIONS.items():
        offered = offered_versions(minor)
        for addon, version in pins.addon_versions().items():
            assert version in offered[addon]
            default = default_version(addon, minor)
            if version != default:
                others[minor, addon] = version, default
    assert others == OLDER_THAN_THE_DEFAULT


OTHER_DEFAULTS = {"open-zfs-capacity": 262_144}
"""The default of AWS in us-west-2, of quotas whose default is another one in most regions."""


@pytest.mark.parametrize(("region", "others"), [("eu-west-1", {}), ("us-west-2", OTHER_DEFAULTS)])
def test_quotas_have_the_same_names_and_defaults(region: str, others: dict[str, int]) -> None:
    theirs = {each.code: each for each in service_quotas.quotas_in(region)}
    with_code = {name: each for name, each in quotas.QUOTAS.items() if each.code}
    assert len(with_code) > 20
    for name, ours in with_code.items():
        found = theirs[ours.code]
        described = (found.service, found.name, found.default, found.adjustable)
        default = others.get(name, ours.default)
        assert described == (ours.service, ours.title, default, ours.adjustable)


def test_vcpu_quotas_have_the_same_names() -> None:
    names = {each["code"]: each["name"] for each in fixture()["vcpu_quotas"]}
    families = ("c5", "p5", "g5", "trn1", "inf2", "p4d")
    for market in ("on-demand", "spot"):
        for family in families:
            quota = vcpu_quota(family, market)
            assert quota is not None
            assert names[quota.code] == quota.name


def test_parallelcluster_has_the_images_that_the_program_expects() -> None:
    version = versions.PARALLELCLUSTER_VERSION
    images = load.official_images()
    for each in images:
        prefix = parallelcluster.official_image_name(
            version, each.operating_system, each.architecture
        )
        assert prefix is not None
        assert each.name.startswith(f"{prefix}-")
    there = {each.operating_system for each in images}
    platforms = parallelcluster.RESERVATION_PLATFORMS
    assert platforms.keys() - there == {*parallelcluster.OPERATING_SYSTEMS_WITHOUT_AMI}
    assert platforms == {each: load.platform_of(each) for each in platforms}


def test_head_nodes_have_the_tags_that_the_program_looks_for() -> None:
    assert (tagging.PARALLELCLUSTER_TAG, tagging.PARALLELCLUSTER_NODE_TAG) == (
        provider_naming.CLUSTER_NAME,
        provider_naming.NODE_TYPE,
    )


@pytest.mark.parametrize("suffix", [naming.AUTO_SCALING_GROUP, naming.MANAGED_NODE_GROUP])
def test_faults_find_the_groups_of_a_pool_by_its_name(suffix: str) -> None:
    assert is_named("p5", f"p5-cb-p5{suffix}-0c5d1e2")
    assert not is_named("p5", f"p5-cb-p4{suffix}-0c5d1e2")


def test_the_sandbox_runs_the_controllers_and_schedulers_of_the_add_ons() -> None:
    releases = kueue.CONTROLLER_RELEASES
    assert {name: each.deployment for name, each in releases.items()} == CONTROLLERS
    assert neuron.NEURON_SCHEDULER_NAME in SCHEDULERS
