"""Defects of the reference, ported as intended: DF-13 to DF-15."""

from __future__ import annotations

from tests.support.parity import better
from tests.support.stacks import EKS_STACKS


@better(
    "DF-13",
    "`p5-ocdr`, two clusters with one name, no system group, OIDC or zone for p5",
    why="names are right, and every cluster has all three",
)
def test_every_stack_has_its_own_name_a_system_group_oidc_and_one_zone(stack):
    for name in EKS_STACKS:
        made = stack(name)
        assert made.cluster["name"] == name
        assert made.system.name == "system"
        assert made.cluster["createOidcProvider"] is True
        assert "ocdr" not in made.group.name
        assert len(made.group.subnets) == 1


@better(
    "DF-14",
    "System nodes with public addresses in public subnets",
    why="private subnets, in every stack",
)
def test_no_node_of_any_stack_is_in_a_public_subnet(stack):
    for name in EKS_STACKS:
        made = stack(name)
        public = {subnet.name for subnet in made.plan.network.public_subnets}
        for group in made.plan.node_groups:
            assert not public & set(group.subnets)


@better(
    "DF-15",
    "IMDSv1 by default, gp2, a required SSH key, the newest EFA installer, a signal nobody awaits",
    why="IMDSv2, encrypted gp3, no key, the image's EFA, and `up` itself waits for the nodes",
)
def test_nodes_are_hardened_and_boot_without_downloads(stack):
    for name in EKS_STACKS:
        made = stack(name)
        for group in made.plan.node_groups:
            template = made.template(group)
            assert template["metadataOptions"]["httpTokens"] == "required"
            assert template["metadataOptions"]["httpPutResponseHopLimit"] <= 2
            (volume,) = template["blockDeviceMappings"]
            assert (volume["ebs"]["volumeType"], volume["ebs"]["encrypted"]) == ("gp3", "true")
            assert "keyName" not in template
            text = made.user_data(group)
            assert not [word for word in ("curl", "wget", "cfn-signal") if word in text]
