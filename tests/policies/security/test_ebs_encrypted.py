"""Encrypted volumes, wherever they are described."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import template
from trainyard.policies.resources.types import EBS_VOLUME, INSTANCE
from trainyard.policies.rules.security.ebs_encrypted import POLICY

VIOLATING = ((Declared(EBS_VOLUME, "scratch", {"size": 100}),),)
CLEAN = ((Declared(EBS_VOLUME, "scratch", {"size": 100, "encrypted": True}),),)


def mapping(device="/dev/xvda", **ebs):
    return {"deviceName": device, "ebs": {"volumeSize": 500, **ebs}}


@pytest.mark.parametrize(
    ("program", "volume"),
    [
        pytest.param(template(blockDeviceMappings=[mapping()]), "/dev/xvda", id="template"),
        pytest.param(
            template(blockDeviceMappings=[mapping(encrypted="false")]), "/dev/xvda", id="off"
        ),
        pytest.param(
            template(blockDeviceMappings=[mapping(encrypted="true"), mapping("/dev/sdb")]),
            "/dev/sdb",
            id="second-volume",
        ),
        pytest.param(
            Declared(INSTANCE, "head", {"rootBlockDevice": {"volumeSize": 50}}),
            "its root volume",
            id="root-of-an-instance",
        ),
        pytest.param(
            Declared(INSTANCE, "head", {"ebsBlockDevices": [{"deviceName": "/dev/sdf"}]}),
            "/dev/sdf",
            id="disk-of-an-instance",
        ),
        pytest.param(Declared(EBS_VOLUME, "data", {"size": 10}), "the volume", id="volume"),
    ],
)
def test_fails(program, volume):
    (message,) = check(POLICY, program).messages
    assert f"{volume} is not encrypted" in message
    assert message.endswith("set encrypted to true")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template(), id="template"),
        pytest.param(template("blockDeviceMappings"), id="volumes-of-the-image"),
        pytest.param(
            template(blockDeviceMappings=[{"deviceName": "/dev/sdb", "virtualName": "ephemeral0"}]),
            id="instance-store",
        ),
        pytest.param(Declared(INSTANCE, "i", {"rootBlockDevice": {"encrypted": True}}), id="root"),
        pytest.param(Declared(EBS_VOLUME, "data", {"encrypted": True}), id="volume"),
    ],
)
def test_passes(program):
    found = check(POLICY, program)
    assert (found.messages, found.undecided) == ([], [])


def test_one_unknown_volume_does_not_hide_the_fault_of_another():
    mappings = [mapping(encrypted=UNKNOWN), mapping("/dev/sdb")]
    found = check(POLICY, template(blockDeviceMappings=mappings))
    assert len(found.messages) == 1
    assert "blockDeviceMappings.0.ebs.encrypted" in found.undecided[0]
