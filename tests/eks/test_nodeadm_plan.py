"""The documents are goldens in `tests/goldens/nodeadm`."""

import copy
from email import message_from_string

import pytest
import yaml

from tests.support.eks import group, p5
from trainyard.components.eks.node_group_plan import (
    render_managed_user_data,
    render_self_managed_user_data,
)

CLUSTER = {
    "cluster_name": "p5-cb",
    "endpoint": "https://ABCDEF.gr7.us-west-2.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" * 20,
    "service_cidr": "10.100.0.0/16",
}
LABELS_AND_TAINTS = p5(
    labels={"example.com/team": "vision", "pool": "p5"},
    taints=[
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
        {"key": "dedicated", "effect": "NoExecute"},
    ],
)


def node_config(user_data):
    (part,) = message_from_string(user_data).get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    return yaml.safe_load(part.get_payload())


def test_a_p5_node_in_a_capacity_block(golden):
    """EKN-12: no bootstrap script, no EFA installer; the AMI contains both."""
    golden("nodeadm/p5_capacity_block.txt", render_self_managed_user_data(group(p5()), **CLUSTER))


def test_a_node_with_labels_and_taints(golden):
    text = render_self_managed_user_data(group(LABELS_AND_TAINTS), **CLUSTER)
    golden("nodeadm/labels_and_taints.txt", text)


def test_a_managed_p5_node(golden):
    golden("nodeadm/managed_p5.txt", render_managed_user_data(group(p5(management="managed"))))


def test_a_managed_node_without_anything_to_say_has_an_empty_document():
    document = node_config(render_managed_user_data(group(p5(), "system")))
    assert document["spec"] == {}


def test_a_self_managed_node_names_its_cluster_as_eks_reports_it():
    cluster = node_config(render_self_managed_user_data(group(p5()), **CLUSTER))["spec"]["cluster"]
    assert cluster == {
        "name": CLUSTER["cluster_name"],
        "apiServerEndpoint": CLUSTER["endpoint"],
        "certificateAuthority": CLUSTER["certificate_authority"],
        "cidr": CLUSTER["service_cidr"],
    }


def test_a_managed_node_leaves_cluster_labels_and_taints_to_eks():
    raw = copy.deepcopy(LABELS_AND_TAINTS)
    raw["architecture"]["node_groups"]["p5"]["management"] = "managed"
    spec = node_config(render_managed_user_data(group(raw)))["spec"]
    assert "cluster" not in spec
    assert "flags" not in spec["kubelet"]


@pytest.mark.parametrize("local_nvme", ["raid0", "none"])
def test_local_disks_become_one_volume_on_request(local_nvme):
    spec = node_config(render_self_managed_user_data(group(p5(local_nvme=local_nvme)), **CLUSTER))[
        "spec"
    ]
    assert ("instance" in spec) == (local_nvme == "raid0")


def test_the_document_is_the_same_every_time():
    """A second `up` must not create a new version of the launch template."""
    first = render_self_managed_user_data(group(LABELS_AND_TAINTS), **CLUSTER)
    assert first == render_self_managed_user_data(group(LABELS_AND_TAINTS), **CLUSTER)
