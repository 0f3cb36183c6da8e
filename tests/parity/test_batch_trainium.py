"""The Trainium example for Batch of aws-neuron-samples, whose rows are numbered here."""

from __future__ import annotations

import pytest

from tests.parity.test_batch_p5 import as_devices
from tests.support.parity import better
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE

STACK = "batch-trn1"


@pytest.fixture
def trn1(batch):
    return batch(STACK)


@better(
    "TRN-01",
    "Eight EFA interfaces with a subnet in each, a placement group, 200 GiB, IMDSv2 over five hops",
    why="the same without subnets, which are the environment's, and one hop; the volume encrypted",
)
def test_nodes_have_eight_efa_interfaces_a_placement_group_and_200_gib(trn1):
    assert trn1.efa_cards == list(range(8))
    assert trn1.template["placement"]["groupName"]
    (volume,) = trn1.template["blockDeviceMappings"]
    assert (volume["deviceName"], volume["ebs"]["volumeSize"]) == ("/dev/xvda", 200)
    assert volume["ebs"]["encrypted"] == "true"
    options = trn1.template["metadataOptions"]
    assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)
    assert not [each for each in trn1.template["networkInterfaces"] if "subnetId" in each]


@better(
    "TRN-02",
    "An environment of trn1.32xlarge, no vCPU to 2,088",
    why="16 whole nodes; the image with the drivers is given by its id, and looked at",
)
def test_the_environment_takes_sixteen_nodes_of_the_image_with_neuron_s_drivers(trn1):
    assert (trn1.resources["minVcpus"], trn1.resources["maxVcpus"]) == (0, 16 * 128)
    (configuration,) = trn1.resources["ec2Configurations"]
    assert configuration["imageIdOverride"] == "ami-0ec50000000020233"


@better(
    "TRN-03",
    "A job on four nodes: 96 vCPUs, 500,000 MiB, all EFA and Neuron devices, no limit of memlock",
    why=(
        "all vCPUs, and no more memory than ECS surely leaves, since a job that asks for more "
        "waits for ever; a pinned image, and a test over all nodes"
    ),
)
def test_the_job_has_four_nodes_and_all_devices_of_each(trn1):
    assert trn1.definition("nccom-tests")["nodeProperties"]["numNodes"] == 4
    made = trn1.container("nccom-tests")
    neuron = [
        {"hostPath": path, "containerPath": path, "permissions": ["READ", "WRITE", "MKNOD"]}
        for path in (f"/dev/neuron{number}" for number in range(16))
    ]
    assert made["linuxParameters"]["devices"] == [*as_devices(8), *neuron]
    assert made["image"] == NCCOM_TEST_IMAGE
    needs = {each["type"]: int(each["value"]) for each in made["resourceRequirements"]}
    assert needs["VCPU"] == 128
    assert 470_000 < needs["MEMORY"] < 500_000
    limits = {each["name"]: each["hardLimit"] for each in made["ulimits"]}
    assert limits["memlock"] == -1
    assert "GPU" not in needs
    assert "nccom-test" in made["command"][-1]
