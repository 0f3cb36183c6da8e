"""The head node of a ParallelCluster configuration."""

from __future__ import annotations

from trainyard.importing.draft import Draft
from trainyard.importing.parallelcluster.nodes import (
    read_permissions,
    read_root_volume,
    read_scripts,
)
from trainyard.importing.reader import Reader


def read_head_node(source: Reader, image: Reader, architecture: Draft, network: Draft) -> None:
    """Read `HeadNode`; `image` is the AMI of the cluster."""
    node = architecture.section("head_node", source)
    node.take("instance_type", source.at("InstanceType"))
    _claim_flag(
        source.at("DisableSimultaneousMultithreading"),
        "the head node runs two threads per core",
        "a stack has no key for it: choose an instance type with enough memory per vCPU",
    )
    networking = source.at("Networking")
    node.take_id("subnet_id", networking.at("SubnetId"), "subnet")
    if "subnet_id" in node.values:
        network.values["public_subnet_ids"].append(node.values["subnet_id"])
    _claim_flag(
        networking.at("ElasticIp"),
        "the head node has no Elastic IP address",
        "a public subnet gives the head node an address that changes when it is replaced; "
        "connect with Session Manager (`./trainyard ssm`), which needs none",
    )
    _read_ssh(source.at("Ssh"), node)
    read_root_volume(source.at("LocalStorage", "RootVolume"), node)
    read_permissions(source.at("Iam"), node)
    read_scripts(source.at("CustomActions"), node)
    if source.at("SharedStorageType").value == "Ebs":
        source.at("SharedStorageType").implied("it is ParallelCluster's default")
    ami = source.at("Image", "CustomAmi")
    if ami.exists and ami.value == image.value:
        ami.implied("the cluster has the same AMI")
    secured = source.at("Imds", "Secured")
    if secured.flag is not False:
        secured.implied("it is ParallelCluster's default")


def _read_ssh(source: Reader, node: Draft) -> None:
    ssh = node.section("ssh")
    ssh.take("key_name", source.at("KeyName"))
    allowed = source.at("AllowedIps")
    if str(allowed.value or "").startswith("pl-"):
        allowed.unsupported("a stack has one CIDR block in `ssh.allowed_cidr`, no prefix list")
    else:
        ssh.take("allowed_cidr", allowed)
    if source.at("KeyName").exists and not allowed.exists:
        source.report.notes.append(
            "HeadNode.Ssh.AllowedIps is missing: ParallelCluster then opens SSH to every address, "
            "the stack to none; set `architecture.head_node.ssh.allowed_cidr` to your network"
        )
    if not ssh.values:
        del node.values["ssh"]


def _claim_flag(source: Reader, implied: str, unsupported: str) -> None:
    """Record a setting that a stack does not have: false is what the stack does anyway."""
    if source.flag is False:
        source.implied(implied)
    source.unsupported(unsupported)
