"""The command lines of a control plane."""

from __future__ import annotations

import pytest

from tests.support.kubernetes import PREVIOUS
from trainyard.sandbox.kubernetes import control_planes
from trainyard.sandbox.kubernetes.control_planes import Layout, Ports
from trainyard.sandbox.kubernetes.credentials import (
    make_credentials,
    make_etcd_certificate,
    make_webhook_certificate,
)

PORTS = Ports(etcd=1, etcd_peer=2, api_server=3, authenticator=4)


@pytest.fixture
def every(tmp_path):
    """All command lines by program, and the administrator's token."""
    layout = Layout(tmp_path)
    credentials, token = make_credentials(tmp_path / "pki")
    etcd = make_etcd_certificate(tmp_path / "etcd-pki")
    webhook = make_webhook_certificate(tmp_path / "webhook-pki")
    lines = {
        "etcd": control_planes.etcd(layout, PORTS, etcd),
        "kube-apiserver": control_planes.kube_apiserver(layout, PORTS, credentials, etcd),
        "kube-controller-manager": control_planes.kube_controller_manager(layout, credentials),
        "kube-scheduler": control_planes.kube_scheduler(layout),
        "kwok": control_planes.kwok(layout),
        "authenticator": control_planes.authenticator(
            layout, PORTS, webhook, cluster="p5-cb", aws_endpoint="http://127.0.0.1:5"
        ),
    }
    return lines, token


def test_there_is_one_for_each_program(every):
    assert set(every[0]) == set(control_planes.PROGRAMS)


def test_nothing_listens_on_the_network(every):
    text = " ".join(argument for line in every[0].values() for argument in line)
    assert "0.0.0.0" not in text
    assert "--bind-address=127.0.0.1" in every[0]["kube-apiserver"]
    assert "--secure-port=0" in every[0]["kube-scheduler"]
    assert "--secure-port=0" in every[0]["kube-controller-manager"]


def test_etcd_answers_only_who_has_its_certificate(every):
    etcd, api_server = every[0]["etcd"], every[0]["kube-apiserver"]
    assert not [argument for argument in etcd if "http://" in argument]
    assert {"--client-cert-auth", "--peer-client-cert-auth"} <= set(etcd)
    assert [each for each in api_server if each.startswith("--etcd-certfile=")]


def test_no_secret_is_in_any(every):
    lines, token = every
    assert token not in str(lines)


def test_nodes_are_authorized_as_on_eks(every):
    api_server = every[0]["kube-apiserver"]
    assert "--authorization-mode=Node,RBAC" in api_server
    assert "--enable-admission-plugins=NodeRestriction" in api_server


def test_only_nodes_whose_kubelet_is_let_in_are_kept_alive(every):
    assert "--manage-all-nodes=false" in every[0]["kwok"]
    assert (
        "--manage-nodes-with-label-selector=sandbox.trainyard/kubelet=running" in every[0]["kwok"]
    )


def test_all_three_programs_emulate_an_older_version_and_none_their_own(tmp_path):
    layout = Layout(tmp_path)
    credentials, _ = make_credentials(tmp_path / "pki")
    etcd = make_etcd_certificate(tmp_path / "etcd-pki")
    for emulated in (PREVIOUS, None):
        expected = [f"--emulated-version=kube={PREVIOUS}"] if emulated else []
        for arguments in (
            control_planes.kube_apiserver(layout, PORTS, credentials, etcd, emulated),
            control_planes.kube_controller_manager(layout, credentials, emulated),
            control_planes.kube_scheduler(layout, emulated),
        ):
            assert [a for a in arguments if "emulated" in a] == expected
