"""The EFA device plugin and the driver for dynamic resource allocation (A21)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import (
    DRIVER_IMAGE,
    efa_cluster,
    plugin,
    private_cluster,
    release,
)
from trainyard.policies.rules.efa.efa_plugin_or_driver import POLICY

DRIVER = release("aws-dranet", version="1.0.0")
VIOLATING = (
    efa_cluster(DRIVER, plugin()),
    (private_cluster(version="1.33"), DRIVER),
    (private_cluster(version="1.35", computeConfig={"enabled": True}), DRIVER),
)
CLEAN = (efa_cluster(DRIVER), efa_cluster(plugin()))


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "that efa-plugin, the EFA device plugin, also allocates"),
        (VIOLATING[1], "needs Kubernetes 1.34, and cluster training has 1.33"),
        (VIOLATING[2], "does not run on EKS Auto Mode before 1.36, and cluster training with 1.35"),
        (
            efa_cluster(plugin(name="driver", image=DRIVER_IMAGE), plugin()),
            "also allocates",
        ),
    ],
    ids=["both", "old-kubernetes", "auto-mode", "daemon-sets"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (private_cluster(version="1.33"), plugin()),
        (*efa_cluster(DRIVER, plugin()), private_cluster("other")),
        (private_cluster(), DRIVER),
        (private_cluster(version="1.36", computeConfig={"enabled": True}), DRIVER),
    ],
    ids=[
        "driver",
        "plugin",
        "plugin-on-old",
        "which-cluster-is-not-told",
        "new-kubernetes",
        "auto-mode-with-the-driver",
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_both_may_stand_on_nodes_of_their_own():
    of_p5 = plugin(nodeSelector={"efa": "plugin"})
    of_p6 = release("aws-dranet", version="1.0.0", values={"nodeSelector": {"efa": "driver"}})
    assert check(POLICY, *efa_cluster(of_p5, of_p6)).messages == []


def test_a_version_that_is_not_known_yet_is_said():
    made = private_cluster(version=UNKNOWN)
    unknown = Declared(made.type, made.name, made.props, {"version": ["efa-chart"]})
    found = check(POLICY, unknown, DRIVER)
    assert found.messages == []
    assert "training.version" in found.undecided[0]
