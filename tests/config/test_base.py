"""The patterns of ids and names, compared with real ones of AWS."""

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.eks import changed, schema_problems
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.base import (
    ClusterName,
    InstanceTypeName,
    Ipv4Cidr,
    KmsKeyArn,
    NodePoolName,
    ReservationId,
    SubnetId,
    VpcId,
    Zone,
    same_kind_of_zone,
)
from trainyard.components.config.batch import ContainerImage, JobName, RepositoryName
from trainyard.components.config.node_pool import PolicyName
from trainyard.components.config.parallelcluster import BucketName
from trainyard.components.config.reservations import GroupArn
from trainyard.components.config.storage_fields import S3Path

GOOD = [
    (ReservationId, "cr-0123456789abcdef0"),
    (VpcId, "vpc-0123456789abcdef0"),
    (VpcId, "vpc-1a2b3c4d"),
    (SubnetId, "subnet-0123456789abcdef0"),
    (Zone, "us-west-2b"),
    (Zone, "us-gov-east-1a"),
    (Zone, "us-west-2-lax-1a"),
    (Zone, "usw2-az2"),
    (Zone, "usw2-lax1-az1"),
    (ClusterName, "p5-cb"),
    (NodePoolName, "p5_2"),
    (Ipv4Cidr, "10.0.0.0/16"),
]
BAD = [
    (ReservationId, "cr-0123456789abcdef"),
    (ReservationId, "cr-0123456789ABCDEF0"),
    (ReservationId, "crr-0123456789abcdef0"),
    (VpcId, "subnet-0123456789abcdef0"),
    (VpcId, "vpc-0123456789abcdef0\n"),
    (SubnetId, "subnet-REPLACE-ME"),
    (Zone, "us-west-2"),
    (Zone, "b"),
    (ClusterName, "-p5"),
    (ClusterName, ""),
    (NodePoolName, "g" * 64),
    (InstanceTypeName, "p5"),
    (Ipv4Cidr, "10.0.0.0/33"),
    (Ipv4Cidr, "10.0.0.1/16"),
]


@pytest.mark.parametrize(("form", "value"), GOOD, ids=[value for _, value in GOOD])
def test_accepts(form, value):
    assert TypeAdapter(form).validate_python(value) == value


@pytest.mark.parametrize(("form", "value"), BAD, ids=[repr(value) for _, value in BAD])
def test_refuses(form, value):
    with pytest.raises(ValidationError, match="is not"):
        TypeAdapter(form).validate_python(value)


def test_every_zone_id_and_type_of_the_catalog_has_the_form():
    zones = {zone for found in INSTANCE_TYPES.values() for zone in found.zone_ids}
    for zone in zones:
        TypeAdapter(Zone).validate_python(zone)
    for name in INSTANCE_TYPES:
        TypeAdapter(InstanceTypeName).validate_python(name)


def test_the_image_of_a_job_is_spelled_as_ecs_parses_it():
    given = TypeAdapter(ContainerImage).validate_python
    assert given("nvcr.io#nvidia/pytorch:25.01-py3") == "nvcr.io/nvidia/pytorch:25.01-py3"


def test_the_schema_for_editors_has_pattern_and_example():
    schema = TypeAdapter(ReservationId).json_schema()
    assert schema["pattern"] == "^cr-[0-9a-f]{17}$"
    assert schema["examples"] == ["cr-0123456789abcdef0"]


def test_a_zone_name_and_a_zone_id_are_of_different_kinds():
    assert same_kind_of_zone("us-west-2a", "us-west-2b")
    assert not same_kind_of_zone("us-west-2a", "usw2-az1")


UUID = "1234abcd-12ab-34cd-56ef-1234567890ab"
DIGEST = "@sha256:" + "0" * 64
ACCEPTED = [
    (KmsKeyArn, f"arn:aws:kms:us-west-2:123456789012:key/{UUID}"),
    (KmsKeyArn, f"arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/mrk-{'0' * 32}"),
    (KmsKeyArn, f"arn:aws-eusc:kms:eusc-de-east-1:123456789012:key/{UUID}"),
    (ContainerImage, "pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime"),
    (ContainerImage, "ubuntu"),
    (ContainerImage, "ubuntu:22.04"),
    (ContainerImage, "nvcr.io/nvidia/pytorch:24.01-py3"),
    (ContainerImage, "localhost:5000/a/b__c/d-e.f:v_1.0" + DIGEST),
    (ContainerImage, f"123456789012.dkr.ecr.us-west-2.amazonaws.com/team/nccl{DIGEST}"),
    (ContainerImage, "a/" + "b" * 253),
    (ContainerImage, "repository"),
    (RepositoryName, "team/nccl-tests"),
    (RepositoryName, "a1"),
    (RepositoryName, "a" * 256),
    (JobName, "NCCL_tests-2"),
    (PolicyName, "CloudWatchAgentServerPolicy"),
    (PolicyName, "service-role/AmazonEBSCSIDriverPolicy"),
    (PolicyName, "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
    (PolicyName, "arn:aws-cn:iam::123456789012:policy/a/b/Mine"),
    (BucketName, "a-1.b"),
    (BucketName, "1" * 63),
    (BucketName, "192.168.5.4a"),
    (S3Path, "s3://data"),
    (S3Path, "s3://data/a b/" + "c" * 1000),
    (GroupArn, f"arn:aws:resource-groups:us-west-2:123456789012:group/{'g' * 300}"),
]
REFUSED = [
    (KmsKeyArn, "arn:aws:kms:us-west-2:123456789012:alias/mine"),
    (KmsKeyArn, "arn:aws:kms:us-west-2:123456789012:key/mrk-0123"),
    (KmsKeyArn, "arn:aws:kms:us-west-2:123456789012:key/mine"),
    (KmsKeyArn, UUID),
    (ContainerImage, "pytorch/PyTorch:2.3.0"),
    (ContainerImage, "pytorch/pytorch:"),
    (ContainerImage, "pytorch/pytorch:-1"),
    (ContainerImage, "https://nvcr.io/nvidia/pytorch:24.01-py3"),
    (ContainerImage, "nvcr.io//pytorch:1"),
    (ContainerImage, "a@sha256:0123"),
    (ContainerImage, "a/" + "b" * 254),
    (ContainerImage, "nccl-test"),
    (ContainerImage, "hello-world.sqsh"),
    (ContainerImage, "/fsx/hello-world.sqsh"),
    (ContainerImage, "me@nvcr.io#nvidia/pytorch:1"),
    (ContainerImage, "dockerd://nccl:1"),
    (RepositoryName, "a"),
    (RepositoryName, "Team/nccl"),
    (RepositoryName, "team//nccl"),
    (RepositoryName, "team-"),
    (RepositoryName, "a" * 257),
    (JobName, "-a"),
    (JobName, "a" * 49),
    (PolicyName, "arn:aws:iam::123456789012:role/Mine"),
    (PolicyName, "arn:aws:iam::aws:policy/"),
    (PolicyName, "a" * 129),
    (BucketName, "ab"),
    (BucketName, "a..b"),
    (BucketName, "192.168.5.4"),
    (BucketName, "xn--bucket"),
    (BucketName, "amzn-s3-demo-bucket"),
    (BucketName, "bucket-s3alias"),
    (BucketName, "Bucket"),
    (S3Path, "s3://a..b/c"),
    (S3Path, "s3://10.0.0.1/c"),
    (S3Path, "s3://data/" + "c" * 1025),
    (GroupArn, f"arn:aws:resource-groups:us-west-2:123456789012:group/{'g' * 301}"),
]


@pytest.mark.parametrize(("form", "value"), ACCEPTED, ids=[value[:60] for _, value in ACCEPTED])
def test_what_aws_accepts_is_accepted(form, value):
    assert TypeAdapter(form).validate_python(value) == value


@pytest.mark.parametrize(("form", "value"), REFUSED, ids=[value[:60] for _, value in REFUSED])
def test_what_aws_refuses_is_refused(form, value):
    with pytest.raises(ValidationError, match="is not"):
        TypeAdapter(form).validate_python(value)


@pytest.mark.parametrize("network", ["203.0.113.7", "203.0.113.0/255.255.255.0"])
def test_a_network_has_a_prefix_length(network):
    found = schema_problems(changed(architecture__endpoint={"public_access_cidrs": [network]}))
    problem = found["architecture.endpoint.public_access_cidrs[0]"]
    assert "has no prefix length" in problem.problem
