"""The drivers in machine images, and nodes whose image lacks that of their accelerators.

Parameters and names are those of AWS's documentation, and of images that AWS has published:
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html,
https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html and
retrieve-ami-id-bottlerocket.html,
https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html and
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import account, image, odcr
from tests.support.batch import P4D
from tests.support.parallelcluster import RAW_P4DE
from tests.support.stack_files import AMI, NOW, RESERVATION, raw_config
from trainyard.components.architectures.prepare import examine
from trainyard.components.catalog.batch import image_parameter, image_type
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import official_image_name
from trainyard.components.catalog.versions import EKS_VERSIONS, PARALLELCLUSTER_VERSION
from trainyard.components.compute.image_drivers import (
    drivers_of_image,
    drivers_of_name,
    drivers_of_parameter,
    launch_problems,
    needed_driver,
    wrong_architecture,
)
from trainyard.components.compute.lookup import image_facts, look_up_images
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT
from trainyard.components.eks.node_group_plan import ami_variant

ECS = "/aws/service/ecs/optimized-ami/"
EKS = "/aws/service/eks/optimized-ami/1.35/"
NOTHING: set[str] = set()
NVIDIA, NEURON, BOTH = {"nvidia"}, {"neuron"}, {"nvidia", "neuron"}


@pytest.mark.parametrize(
    ("path", "has", "architecture"),
    [
        (f"{ECS}amazon-linux-2023/recommended/image_id", NOTHING, None),
        (f"{ECS}amazon-linux-2023/arm64/recommended", NOTHING, "arm64"),
        (f"{ECS}amazon-linux-2023/gpu/recommended/image_id", NVIDIA, None),
        (f"{ECS}amazon-linux-2023/neuron/recommended", NEURON, None),
        (f"{ECS}amazon-linux-2/inf/recommended", NEURON, None),
        (f"{ECS}amazon-linux-2/kernel-5.10/gpu/recommended", NVIDIA, None),
        (f"{EKS}amazon-linux-2023/x86_64/standard/recommended/image_id", NOTHING, "x86_64"),
        (f"{EKS}amazon-linux-2023/arm64/standard/recommended/image_id", NOTHING, "arm64"),
        (f"{EKS}amazon-linux-2023/x86_64/nvidia/recommended/image_id", NVIDIA, "x86_64"),
        (f"{EKS}amazon-linux-2023/x86_64/neuron/recommended/image_id", NEURON, "x86_64"),
        ("/aws/service/eks/optimized-ami/1.29/amazon-linux-2-gpu/recommended", BOTH, None),
        ("/aws/service/bottlerocket/aws-k8s-1.35-nvidia/x86_64/latest/image_id", NVIDIA, "x86_64"),
        ("/aws/service/bottlerocket/aws-k8s-1.35/arm64/latest/image_id", NEURON, "arm64"),
        (
            "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-ubuntu-22.04/latest/ami-id",
            NVIDIA,
            "x86_64",
        ),
        ("/aws/service/neuron/dlami/multi-framework/ubuntu-22.04/latest/image_id", NEURON, None),
        (
            "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64",
            NOTHING,
            "arm64",
        ),
    ],
)
def test_the_parameter_of_an_image_tells_its_drivers(path, has, architecture):
    found = drivers_of_parameter(path)
    assert (found.has, found.lacks) == (has, BOTH - has)
    assert found.architecture == architecture


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("al2023-ami-ecs-hvm-2023.0.20260101-kernel-6.1-x86_64", NOTHING),
        ("al2023-ami-ecs-gpu-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs", NVIDIA),
        ("al2023-ami-ecs-neuron-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs", NEURON),
        ("amzn2-ami-ecs-gpu-hvm-2.0.20260101-x86_64-ebs", NVIDIA),
        ("amzn2-ami-ecs-kernel-5.10-gpu-hvm-2.0.20260101-x86_64-ebs", NVIDIA),
        ("amzn2-ami-ecs-inf-hvm-2.0.20260101-x86_64-ebs", NEURON),
        ("amazon-eks-node-al2023-x86_64-standard-1.35-v20260101", NOTHING),
        ("amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260101", NVIDIA),
        ("amazon-eks-node-al2023-x86_64-nvidia-560-1.31-v20250101", NVIDIA),
        ("amazon-eks-node-al2023-x86_64-neuron-1.35-v20260101", NEURON),
        ("amazon-eks-gpu-node-1.29-v20250101", BOTH),
        ("amazon-eks-node-1.29-v20250101", NOTHING),
        ("bottlerocket-aws-k8s-1.35-nvidia-x86_64-v1.50.0-fcf71a47", NVIDIA),
        ("Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) 20260101", NVIDIA),
        ("Deep Learning OSS Nvidia Driver AMI GPU PyTorch 2.9 (Ubuntu 22.04) 20260101", NVIDIA),
        ("Deep Learning AMI Neuron (Ubuntu 22.04) 20260101", NEURON),
        ("Deep Learning Base Neuron AMI (Amazon Linux 2023) 20260101", NEURON),
        ("al2023-ami-2023.9.20260101.0-kernel-6.12-x86_64", NOTHING),
        ("ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260101", NOTHING),
    ],
)
def test_the_published_name_of_an_image_tells_its_drivers(name, has):
    found = drivers_of_name(name)
    assert (found.has, found.lacks) == (has, BOTH - has)
    assert drivers_of_image(image(name=name, from_amazon=True, tags={}), {}) == found


def test_the_official_images_of_parallelcluster_have_the_driver_of_nvidia():
    name = official_image_name(PARALLELCLUSTER_VERSION, "alinux2023", "x86_64")
    assert name is not None
    found = drivers_of_name(name)
    assert (found.has, found.lacks) == (NVIDIA, NOTHING)


def test_every_type_of_the_catalog_gets_an_image_with_its_driver():
    """The images that EKS and Batch nodes launch from, against EC2's accelerators."""
    for each in INSTANCE_TYPES.values():
        needed = needed_driver(each)
        batch = image_type(each)
        parameters = [image_parameter(batch, each.architecture)] if batch else []
        if (ami_variant(each), each.architecture) != ("neuron", "arm64"):
            version = next(iter(EKS_VERSIONS.values()))
            parameters.append(version.ami_ssm_parameter(ami_variant(each), each.architecture))
        for parameter in parameters:
            found = drivers_of_parameter(parameter)
            assert needed is None or needed in found.has, (each.name, parameter)
            assert not wrong_architecture([each], found.architecture), (each.name, parameter)


def test_a_copy_has_the_drivers_of_its_source():
    source = image("ami-0source", name="amazon-eks-node-1.29-v1", from_amazon=True, tags={})
    copy = image(name="training-gpu", source_image_id="ami-0source", tags={})
    assert drivers_of_image(copy, {"ami-0source": source}).lacks == BOTH
    installed = replace(copy, source_instance_id="i-0123456789abcdef0")
    found = drivers_of_image(installed, {"ami-0source": source})
    assert (found.has, found.lacks, found.hinted) == (NOTHING, NOTHING, NVIDIA)


@pytest.mark.parametrize(
    ("changes", "hinted"),
    [
        ({"name": "team-trn1-2.32"}, NEURON),
        ({"name": "base", "description": "CUDA 12.8 and EFA"}, NVIDIA),
        ({"name": "base", "tags": {"stack": "neuronx"}}, NEURON),
        ({"name": "training-v7"}, NOTHING),
        ({"name": "neurontic-gpuless"}, NOTHING),
        ({"name": "base", "tags": {"parallelcluster:version": "3.16.1"}}, NVIDIA),
    ],
)
def test_what_an_own_image_says_of_itself_is_a_hint(changes, hinted):
    found = drivers_of_image(image(**{"tags": {}, **changes}), {})
    assert (found.has, found.lacks, found.hinted) == (NOTHING, NOTHING, hinted)


def examined(raw, facts, stack_file):
    config = load_stack_config(raw, stack_file=stack_file)
    return examine(config, facts, stack_file=stack_file, region="us-west-2", now=NOW)


def on_batch(instance_type="p4d.24xlarge", **changes):
    """Return the findings about an own image of a compute environment."""
    at = "architecture__compute_environments__p4d"
    raw = raw_config(
        P4D,
        **{
            f"{at}__image": "custom",
            f"{at}__custom_ami_id": AMI,
            f"{at}__instance_type": instance_type,
            "architecture__job_definitions": {},
        },
    )
    facts = account(
        reservations={RESERVATION: odcr(instance_type=instance_type, instance_count=2)},
        offered_zone_ids={instance_type: frozenset({"usw2-az1", "usw2-az2"})},
        images={AMI: image(**{"tags": {}, "root_volume_gib": 30, **changes})},
    )
    found = examined(raw, facts, "Pulumi.batch-p4d.yaml")
    told = [each for each in found.warnings if "driver" in each or "Marketplace" in each]
    return {p.path.removeprefix(f"{ROOT}."): p for p in found.problems}, told


KEY = "architecture.compute_environments.p4d.custom_ami_id"


@pytest.mark.parametrize(
    ("instance_type", "name", "said"),
    [
        ("p4d.24xlarge", "al2023-ami-ecs-hvm-2023.0.20260101-kernel-6.1-x86_64", "no driver of"),
        (
            "p4d.24xlarge",
            "al2023-ami-ecs-neuron-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs",
            "the driver of Neuron, and not that of NVIDIA",
        ),
        (
            "trn1.32xlarge",
            "al2023-ami-ecs-gpu-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs",
            "the driver of NVIDIA, and not that of Neuron",
        ),
    ],
)
def test_an_image_of_another_accelerator_is_refused_on_batch(instance_type, name, said):
    problems, told = on_batch(instance_type, name=name, from_amazon=True)
    assert said in problems[KEY].problem
    assert not told
    assert problems[KEY].remedy


def test_an_image_with_the_driver_is_accepted_on_batch():
    name = "al2023-ami-ecs-gpu-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs"
    assert on_batch(name=name, from_amazon=True) == ({}, [])


@pytest.mark.parametrize(
    ("name", "said"), [("team-neuron", "is one for Neuron"), ("team-1", "shows nowhere")]
)
def test_an_own_image_without_a_sign_of_the_driver_is_told_on_batch(name, said):
    problems, (told,) = on_batch(name=name)
    assert not problems
    assert told.startswith(KEY)
    assert said in told


def on_slurm(image_changes, **changes):
    raw = raw_config(RAW_P4DE, **changes)
    facts = account(images={AMI: image(**image_changes)})
    found = examined(raw, facts, "Pulumi.pc-p4de.yaml")
    told = [each for each in found.warnings if "driver" in each]
    return {p.path.removeprefix(f"{ROOT}."): p for p in found.problems}, told


def test_a_neuron_image_is_refused_for_gpus_on_slurm():
    name = "Deep Learning AMI Neuron (Ubuntu 22.04) 20260101"
    problems, told = on_slurm({"name": name, "from_amazon": True})
    assert "not that of NVIDIA" in problems["architecture.custom_ami_id"].problem
    assert not told


def test_a_script_of_the_user_can_install_the_driver_on_slurm():
    name = "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260101"
    script = {"on_node_configured": [{"script": "https://example.org/driver.sh"}]}
    at = "architecture__queues__compute-gpu__custom_actions"
    assert on_slurm({"name": name, "from_amazon": True}, **{at: script}) == ({}, [])


def test_an_image_of_the_stack_and_those_that_it_was_made_from_are_read():
    answers = {
        AMI: {"SourceImageId": "ami-0b", "SourceInstanceId": "i-0", "Name": "own"},
        "ami-0b": {"SourceImageId": "ami-0c", "Name": "middle"},
        "ami-0c": {"SourceImageId": "ami-0d", "Name": "amazon-eks-node-1.29-v1"}
        | {"ImageOwnerAlias": "amazon"},
    }

    class Reader:
        class ec2:  # noqa: N801 - as the attribute of a reader
            describe_images = None

        def ask(self, _call, _do, *, ImageIds):  # noqa: N803 - as in the API
            known = [{"ImageId": each, **answers[each]} for each in ImageIds if each in answers]
            return {"Images": known}

    found = look_up_images(Reader(), AMI)
    assert list(found) == [AMI, "ami-0b", "ami-0c"]
    assert drivers_of_image(found["ami-0b"], found).lacks == BOTH
    assert image_facts({"ImageId": AMI, "PublicSsmParameterName": "aws/x"}).public_parameter


@pytest.mark.parametrize(
    ("scripts", "told"),
    [([], True), (["docker"], True), (["neuron"], False), (["https://example.org/a.sh"], False)],
)
def test_trainium_on_slurm_without_the_script_for_the_driver_is_told(scripts, told):
    """The official images have no driver of Neuron; offline, before the account is read."""
    queue = {
        "purchase_option": "on-demand",
        "availability_zone": "us-west-2b",
        "compute_resources": {"trn": {"instance_type": "trn1.32xlarge", "maximum": 2}},
        "custom_actions": {"on_node_configured": [{"script": each} for each in scripts]},
    }
    raw = raw_config(RAW_P4DE, architecture__custom_ami_id=..., reservations={})
    raw["architecture"]["queues"] = {"neuron": queue}
    found = examined(raw, account(), "Pulumi.pc-p4de.yaml")
    assert not found.problems
    assert found.plan is not None
    assert bool([each for each in found.plan.notes if "that of Neuron" in each]) == told


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "pending"}, "state pending"),
        ({"architecture": "arm64"}, "for arm64"),
        ({"allowed": False}, "not allowed"),
        ({"ena": False}, "without ENA"),
        ({"root_device_type": "instance-store"}, "instance-store"),
        ({"virtualization": "paravirtual"}, "paravirtual"),
        ({"platform": "Windows with SQL Server"}, "Windows"),
        ({"unsupported_types": frozenset({"p4d.24xlarge"})}, "not for p4d.24xlarge"),
    ],
)
def test_an_image_that_ec2_does_not_launch_is_refused(changes, said):
    types = [INSTANCE_TYPES["p4d.24xlarge"]]
    assert not [*launch_problems("key", image(), types)]
    (problem,) = launch_problems("key", image(**changes), types)
    assert said in str(problem.found)
    assert problem.path == "key"


def test_what_ec2_answers_of_an_image_is_read():
    """Names of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Image.html."""
    found = image_facts(
        {
            "ImageId": AMI,
            "EnaSupport": False,
            "RootDeviceType": "instance-store",
            "VirtualizationType": "paravirtual",
            "ImageAllowed": False,
            "ProductCodes": [{"ProductCodeId": "abc", "ProductCodeType": "marketplace"}],
            "InstanceTypeSpecification": {"UnsupportedInstanceTypes": ["p5.48xlarge"]},
        }
    )
    assert (found.ena, found.allowed, found.needs_subscription) == (False, False, True)
    assert (found.root_device_type, found.virtualization) == ("instance-store", "paravirtual")
    assert found.unsupported_types == {"p5.48xlarge"}


def test_a_product_of_the_marketplace_needs_a_subscription():
    name = "al2023-ami-ecs-gpu-hvm-2023.0.20260101-kernel-6.1-x86_64-ebs"
    problems, (told,) = on_batch(name=name, from_amazon=True, needs_subscription=True)
    assert not problems
    assert "OptInRequired" in told
