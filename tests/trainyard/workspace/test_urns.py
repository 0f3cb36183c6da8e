"""The parts of a resource's URN."""

import pytest

from trainyard.workspace.urns import name_of, project_of, stack_of, type_of

PREFIX = "urn:pulumi:p5-cb::trainyard"


@pytest.mark.parametrize(
    ("urn", "parts"),
    [
        pytest.param(
            f"{PREFIX}::trainyard:network:Vpc$aws:ec2/vpc:Vpc::p5-cb-vpc",
            ("p5-cb", "trainyard", "aws:ec2/vpc:Vpc", "p5-cb-vpc"),
            id="child",
        ),
        pytest.param(
            f"{PREFIX}::pulumi:pulumi:Stack::trainyard-p5-cb",
            ("p5-cb", "trainyard", "pulumi:pulumi:Stack", "trainyard-p5-cb"),
            id="root",
        ),
        pytest.param(
            f"{PREFIX}::t:x:Y::a::b", ("p5-cb", "trainyard", "t:x:Y", "a::b"), id="colons"
        ),
        pytest.param("", ("", "", "", ""), id="of-no-resource"),
        pytest.param("urn:pulumi:p5-cb", ("", "", "", ""), id="cut-off"),
    ],
)
def test_a_resource_is_known_by_stack_project_type_and_name(
    urn: str, parts: tuple[str, ...]
) -> None:
    assert (stack_of(urn), project_of(urn), type_of(urn), name_of(urn)) == parts
