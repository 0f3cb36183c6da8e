"""On-Demand Trainium on EKS in one zone: defaults of the type (parity sections 7 and 8)."""

import pytest

from tests.support.eks import PRIVATE, group, p5
from tests.support.kubernetes import DEFAULT
from tests.support.stack_files import plan_from
from trainyard.components.eks.addons.registry import device_plugins


def trainium(type_name="trn1.32xlarge", **changes):
    return p5(
        instance_type=type_name,
        purchase_option="on-demand",
        management="managed",
        subnet_id=PRIVATE[0],
        **changes,
    )


@pytest.mark.parametrize(
    ("type_name", "efa"),
    [
        pytest.param("trn1.32xlarge", 8, id="trn1"),
        pytest.param("trn1n.32xlarge", 16, id="trn1n"),
        pytest.param("trn2.48xlarge", 16, id="trn2"),
    ],
)
def test_every_efa_interface_of_a_trainium_node_is_used_and_one_takes_an_address(type_name, efa):
    interfaces = group(trainium(type_name)).interfaces
    assert interfaces.efa_interfaces == efa
    assert interfaces.addresses_per_node == 1
    assert len(interfaces.interfaces) == efa + 1


@pytest.mark.parametrize(("type_name", "cards"), [("trn1.32xlarge", 8), ("trn1n.32xlarge", 16)])
def test_the_layout_of_the_reference_has_an_address_on_every_card(type_name, cards):
    """Section 7: (0,0), then device 1 of the further cards."""
    interfaces = group(trainium(type_name, interface_layout="efa")).interfaces.interfaces
    assert [(i.network_card_index, i.device_index) for i in interfaces] == [
        (0, 0),
        *((card, 1) for card in range(1, cards)),
    ]


def test_nodes_launch_from_the_ami_with_the_neuron_driver():
    found = group(trainium())
    assert found.ami_type == "AL2023_x86_64_NEURON"
    release = found.ami_release_version.partition("-")[2]
    assert found.ami_ssm_parameter == (
        f"/aws/service/eks/optimized-ami/{DEFAULT}/amazon-linux-2023/x86_64/neuron/"
        f"amazon-eks-node-al2023-x86_64-neuron-{DEFAULT}-v{release}/image_id"
    )


def test_a_placement_group_is_made_for_on_demand_training():
    """Section 7: the reference creates one for each type."""
    assert group(trainium()).placement.group == "create"


def test_neuron_and_efa_plugin_and_the_scheduler_are_installed():
    made = plan_from(trainium(taints=[{"key": "aws.amazon.com/neuron", "effect": "NoSchedule"}]))
    assert device_plugins(made) == ["neuron", "efa"]
    assert "neuron-scheduler" in made.self_managed_addons
    assert [taint.key for taint in made.device_plugin_tolerations] == ["aws.amazon.com/neuron"]


def test_trainium_without_efa_needs_the_neuron_plugin_only():
    made = plan_from(trainium("trn1.2xlarge", efa_enabled=False))
    assert device_plugins(made) == ["neuron"]
