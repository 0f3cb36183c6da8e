"""The configuration that nodeadm reads from user data."""

from __future__ import annotations

import base64
import gzip

import pytest

from trainyard.sandbox.kubernetes.kubelet import NodeConfigError, Taint, parse_user_data

P5 = """\
---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: p5-cb
    apiServerEndpoint: https://127.0.0.1:6443
    certificateAuthority: Q0VSVA==
    cidr: 10.100.0.0/16
  instance:
    localStorage:
      strategy: RAID0
  kubelet:
    config:
      maxPods: 49
    flags:
    - --node-labels=trainyard/node-group=p5,team=research
    - --register-with-taints=nvidia.com/gpu=present:NoSchedule
"""
MULTIPART = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="BOUNDARY"

--BOUNDARY
Content-Type: application/node.eks.aws

{first}
--BOUNDARY
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
echo hello
--BOUNDARY
Content-Type: application/node.eks.aws

{second}
--BOUNDARY--
"""
SECOND = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      maxPods: 20
      shutdownGracePeriod: 30s
    flags: ["--node-labels=team=training"]
"""


def parsed(text):
    config = parse_user_data(text.encode())
    assert config is not None
    return config


def test_a_plain_node_config_says_everything_the_kubelet_needs():
    config = parsed(P5)
    assert config.cluster_name == "p5-cb"
    assert config.api_server_endpoint == "https://127.0.0.1:6443"
    assert config.certificate_authority == "Q0VSVA=="
    assert config.cidr == "10.100.0.0/16"
    assert config.labels == (("trainyard/node-group", "p5"), ("team", "research"))
    assert config.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)
    assert config.maximum_pods == 49
    assert config.local_storage == "RAID0"
    assert config.missing() == []


def test_parts_are_merged_later_values_win_and_flags_add_up():
    config = parsed(MULTIPART.format(first=P5, second=SECOND))
    assert config.cluster_name == "p5-cb"
    assert config.maximum_pods == 20
    assert dict(config.labels) == {"trainyard/node-group": "p5", "team": "training"}
    assert config.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)


@pytest.mark.parametrize(
    "encode",
    [
        pytest.param(base64.b64encode, id="base64"),
        pytest.param(base64.encodebytes, id="base64-in-lines"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: base64.b64encode(gzip.compress(data)), id="gzip-in-base64"),
    ],
)
def test_user_data_may_be_encoded(encode):
    assert parse_user_data(encode(P5.encode())) == parsed(P5)


def test_taints_of_the_configuration_count_where_no_flag_sets_them():
    text = P5.replace(
        "      maxPods: 49\n",
        "      registerWithTaints: [{key: a, value: b, effect: NoExecute}, "
        "{key: c, effect: NoSchedule}]\n",
    ).replace("    - --register-with-taints=nvidia.com/gpu=present:NoSchedule\n", "")
    assert parsed(text).taints == (Taint("a", "b", "NoExecute"), Taint("c", "", "NoSchedule"))


def test_flags_may_be_separated_from_their_values_by_a_space():
    text = P5.replace("--node-labels=trainyard/node-group=p5,team=research", "--node-labels a=b")
    assert parsed(text).labels == (("a", "b"),)


def test_the_flag_for_pods_is_stronger_than_the_configuration():
    assert parsed(P5 + "    - --max-pods=7\n").maximum_pods == 7


def test_missing_fields_are_named_as_in_the_document():
    text = P5.replace("    certificateAuthority: Q0VSVA==\n", "").replace(
        "    cidr: 10.100.0.0/16\n", ""
    )
    assert parsed(text).missing() == ["spec.cluster.certificateAuthority", "spec.cluster.cidr"]


@pytest.mark.parametrize(
    "user_data",
    [
        pytest.param("", id="empty"),
        pytest.param("#!/bin/bash\n/etc/eks/bootstrap.sh p5-cb\n", id="shell-script"),
        pytest.param(MULTIPART.replace("node.eks.aws", "x-other"), id="multipart-without"),
    ],
)
def test_other_user_data_is_no_node_config(user_data):
    assert parse_user_data(user_data.encode()) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(P5.replace("kind: NodeConfig", "kind: Node"), "'Node'", id="kind"),
        pytest.param(P5.replace("maxPods: 49", "maxPods: many"), "maxPods is 'many'", id="number"),
        pytest.param(P5.replace("present:NoSchedule", "present"), "no ':effect'", id="taint"),
        pytest.param(P5.replace("team=research", "team"), "'team'", id="label"),
        pytest.param(P5 + " {", "is not YAML", id="yaml"),
    ],
)
def test_refuses_what_nodeadm_refuses(text, words):
    with pytest.raises(NodeConfigError, match=words):
        parse_user_data(text.encode())


def test_refuses_data_that_only_begins_like_gzip():
    with pytest.raises(NodeConfigError, match="gzip"):
        parse_user_data(b"\x1f\x8b not really")
