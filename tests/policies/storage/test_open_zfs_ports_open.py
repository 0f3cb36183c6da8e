"""The ports of NFS, into the group of an OpenZFS file system (F7)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import OPENZFS_FILE_SYSTEM, SECURITY_GROUP
from trainyard.policies.rules.storage.open_zfs_ports_open import POLICY

SYSTEM = Declared(
    OPENZFS_FILE_SYSTEM,
    "home",
    {"securityGroupIds": [UNKNOWN]},
    {"securityGroupIds": ["home-servers"]},
    protect=True,
)
PORTS = ((111, 111), (2049, 2049), (20001, 20003))


def group(*ports):
    rules = [
        {
            "protocol": "tcp",
            "fromPort": first,
            "toPort": last,
            "securityGroups": ["sg-0123456789abcdef0"],
        }
        for first, last in ports
    ]
    return Declared(SECURITY_GROUP, "home-servers", {"ingress": rules})


VIOLATING = ((SYSTEM, group((2049, 2049))),)
CLEAN = ((SYSTEM, group(*PORTS)),)


def test_the_message_names_the_ports():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "home: its security groups do not allow clients on TCP 111, 20001-20003, so mounts may "
        "hang; add ingress rules for 111, 2049 and 20001-20003 from the clients"
    )


@pytest.mark.parametrize(
    "program",
    [
        CLEAN[0],
        (SYSTEM,),
        (Declared(OPENZFS_FILE_SYSTEM, "home"),),
        (
            SYSTEM,
            Declared(SECURITY_GROUP, "home-servers", {"ingress": UNKNOWN}, {"ingress": ["home"]}),
        ),
    ],
    ids=["all", "group-made-elsewhere", "default-group", "rules-known-later"],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []
