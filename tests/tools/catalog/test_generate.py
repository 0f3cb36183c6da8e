import json

import pytest

from tools.catalog.generate import SELECTION, generate
from tools.catalog.records import record
from trainyard.components.catalog.instance_types import DATA_FILE


def described(**changes):
    return {
        "InstanceType": "x1.large",
        "VCpuInfo": {"DefaultVCpus": 2},
        "MemoryInfo": {"SizeInMiB": 4096},
        "ProcessorInfo": {"SupportedArchitectures": ["i386", "x86_64"]},
        "NetworkInfo": {
            "NetworkPerformance": "2x 100 Gigabit",
            "MaximumNetworkInterfaces": 4,
            "Ipv4AddressesPerInterface": 10,
            "NetworkCards": [card(0), card(1)],
        },
        "SupportedUsageClasses": ["spot", "on-demand"],
        "PlacementGroupInfo": {"SupportedStrategies": ["spread"]},
        **changes,
    }


def card(index):
    return {
        "NetworkCardIndex": index,
        "MaximumNetworkInterfaces": 2,
        "InterfaceTypes": ["interface"],
    }


def test_the_committed_file_is_what_the_generator_makes():
    """After an update of moto: python -m tools.catalog.generate."""
    assert DATA_FILE.read_text(encoding="utf-8") == generate()


def test_types_are_sorted_by_family_and_size():
    names = list(json.loads(DATA_FILE.read_text(encoding="utf-8"))["instance_types"])
    families = [name.partition(".")[0] for name in names]
    assert families == sorted(families)
    p5 = [name for name in names if name.startswith("p5.")]
    assert p5 == ["p5.4xlarge", "p5.48xlarge"]


def test_equal_cards_are_one_run():
    runs = record(described(), [])["network_cards"]
    assert runs == [
        {"first": 0, "last": 1, "maximum_interfaces": 2, "interface_types": ["interface"]}
    ]


@pytest.mark.parametrize(
    ("said", "peak", "gbps"),
    [
        ("2x 100 Gigabit", 100.0, 200.0),
        ("3200 Gigabit", 200.0, 3200.0),
        ("Up to 12.5 Gigabit", 12.5, 25.0),
        ("Moderate", 0, 0),
    ],
)
def test_the_network_is_what_the_type_or_its_cards_carry(said, peak, gbps):
    """Two cards in the answer: EC2 counts each card of some types for less than the type."""
    network = {**described()["NetworkInfo"], "NetworkPerformance": said}
    network["NetworkCards"] = [{**card(n), "PeakBandwidthInGbps": peak} for n in (0, 1)]
    assert record(described(NetworkInfo=network), [])["network_gbps"] == gbps


def test_usage_classes_and_zones_are_sorted_so_that_files_compare():
    found = record(described(), ["b-az1", "a-az1", "a-az1"])
    assert found["usage_classes"] == ["on-demand", "spot"]
    assert found["zone_ids"] == ["a-az1", "b-az1"]


def test_what_a_type_does_not_have_is_none_or_zero():
    found = record(described(), [])
    assert (found["accelerators"], found["efa_interfaces"], found["local_nvme_gb"]) == (None, 0, 0)


def gpu(name):
    return {"Name": name, "Manufacturer": "NVIDIA", "Count": 1, "MemoryInfo": {"SizeInMiB": 1}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param(
            {"GpuInfo": {"Gpus": [gpu("A"), gpu("B")]}}, "several models", id="mixed-accelerators"
        ),
        pytest.param(
            {"ProcessorInfo": {"SupportedArchitectures": ["x86_64_mac"]}},
            "unknown architecture",
            id="architecture",
        ),
    ],
)
def test_fails_for_what_the_catalog_cannot_say(changes, words):
    with pytest.raises(ValueError, match=words):
        record(described(**changes), [])


def test_fails_for_cards_with_gaps():
    network = {**described()["NetworkInfo"], "NetworkCards": [card(0), card(2)]}
    with pytest.raises(ValueError, match="without gaps"):
        record(described(NetworkInfo=network), [])


@pytest.mark.parametrize("name", ["mac2.metal", "mac-m4.metal", "a1.large", "m1.small", "t1.micro"])
def test_types_that_no_image_of_a_node_runs_on_are_left_out(name):
    assert SELECTION.fullmatch(name) is None


@pytest.mark.parametrize("name", ["c7g.xlarge", "m6i.metal", "r7i.large", "u7i-12tb.224xlarge"])
def test_every_other_family_is_selected(name):
    assert SELECTION.fullmatch(name)


def test_a_fraction_of_a_gpu_is_one_device():
    gpu = {
        "Manufacturer": "NVIDIA",
        "Name": "L4",
        "Count": 0,
        "LogicalGpuCount": 1,
        "MemoryInfo": {"SizeInMiB": 2861},
    }
    made = record(described(GpuInfo={"Gpus": [gpu]}), [])
    assert made["accelerators"]["count"] == 1


def test_devices_that_ec2_does_not_report_come_from_the_documentation():
    made = record(described(InstanceType="trn2u.48xlarge"), [])
    assert made["accelerators"]["model"] == "Trainium2"
    assert made["accelerators"]["count"] == 16
