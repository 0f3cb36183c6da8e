"""The attributes that are read of an instance."""

from __future__ import annotations

import base64

import pytest
from botocore.stub import Stubber

from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.kubernetes.instances import SandboxAccount


@pytest.fixture
def account():
    """An account with EC2 answers of the test, in order; the clients use no network."""
    made = SandboxAccount(NO_ACCOUNT, "us-west-2", set)
    with Stubber(made._ec2) as ec2:
        yield made, ec2
        ec2.assert_no_pending_responses()


def interface(card, kind, address, group):
    found = {
        "Attachment": {"NetworkCardIndex": card, "DeviceIndex": 0},
        "InterfaceType": kind,
        "Groups": [{"GroupId": group, "GroupName": "name"}],
    }
    return found | ({"PrivateIpAddress": address} if address else {})


INSTANCE = {
    "InstanceId": "i-0123456789abcdef0",
    "InstanceType": "p5.48xlarge",
    "ImageId": "ami-0123456789abcdef0",
    "Placement": {"AvailabilityZone": "us-west-2b"},
    "PrivateDnsName": "ip-10-0-1-2.us-west-2.compute.internal",
    "PrivateIpAddress": "10.0.1.2",
    "IamInstanceProfile": {"Arn": "arn:aws:iam::123456789012:instance-profile/path/p5"},
    "RootDeviceName": "/dev/xvda",
    "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeId": "vol-1"}}],
    "NetworkInterfaces": [
        interface(0, "interface", "10.0.1.2", "sg-cluster"),
        interface(1, "efa-only", None, "sg-efa"),
        interface(2, "efa", "10.0.1.3", "sg-other"),
    ],
    "Tags": [{"Key": "eks:cluster-name", "Value": "p5-cb"}],
}


def answer_for(ec2, instance):
    ec2.add_response("describe_instances", {"Reservations": [{"Instances": [instance]}]})
    zones = [{"ZoneName": "us-west-2b", "ZoneId": "usw2-az1"}]
    ec2.add_response("describe_availability_zones", {"AvailabilityZones": zones})
    description = "EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: 1.34.10)"
    images = [{"ImageId": instance["ImageId"], "Description": description}]
    ec2.add_response("describe_images", {"Images": images})


def test_an_instance_is_read_with_all_that_its_kubelet_needs(account):
    made, ec2 = account
    answer_for(ec2, INSTANCE)
    ec2.add_response("describe_volumes", {"Volumes": [{"Size": 500}]})
    user_data = base64.b64encode(b"#!/bin/bash").decode()
    ec2.add_response("describe_instance_attribute", {"UserData": {"Value": user_data}})
    [instance] = made.instances(["i-0123456789abcdef0"])
    assert instance.provider_id == "aws:///us-west-2b/i-0123456789abcdef0"
    assert instance.zone_id == "usw2-az1"
    assert instance.instance_profile == "p5"
    assert instance.root_volume_gib == 500
    assert instance.user_data == b"#!/bin/bash"
    assert instance.tags == {"eks:cluster-name": "p5-cb"}
    assert instance.kubelet_version == "1.34.10"


def test_efa_interfaces_are_counted_and_only_those_with_addresses_reach_anything(account):
    made, ec2 = account
    answer_for(ec2, INSTANCE)
    ec2.add_response("describe_volumes", {"Volumes": [{"Size": 500}]})
    ec2.add_response("describe_instance_attribute", {})
    [instance] = made.instances(["i-0123456789abcdef0"])
    assert instance.efa_interfaces == 2
    assert instance.security_group_ids == ("sg-cluster", "sg-other")
    assert instance.user_data == b""


def test_an_instance_without_profile_volume_or_tags_is_read_too(account):
    made, ec2 = account
    optional = {"IamInstanceProfile", "BlockDeviceMappings", "NetworkInterfaces", "Tags"}
    answer_for(ec2, {key: value for key, value in INSTANCE.items() if key not in optional})
    ec2.add_response("describe_instance_attribute", {})
    [instance] = made.instances(["i-0123456789abcdef0"])
    assert instance.instance_profile == ""
    assert instance.efa_interfaces == 0
    assert instance.root_volume_gib == 20


def test_no_credential_of_the_user_is_read(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-users-own")
    credentials = SandboxAccount(NO_ACCOUNT, "us-west-2", set)._ec2._request_signer
    assert credentials._credentials.access_key == NO_ACCOUNT.access_key
