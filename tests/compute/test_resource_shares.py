"""Resource shares of other accounts that a stack accepts."""

import pulumi

from trainyard.components.compute.reservations import accept_shares

SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
OTHER = SHARE.replace("0a1b2c3d-", "ffffffff-", 1)
ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"


def accepted(deploy, **shares):
    def program():
        outer = pulumi.ComponentResource("trainyard:test:Outer", "outer")
        accept_shares("p5-cb", shares, parent=outer)

    return deploy(program).of_type(ACCEPTER)


def test_an_invitation_of_several_reservations_is_accepted_once(deploy):
    """PR-05."""
    made = accepted(deploy, one=SHARE, two=SHARE, three=OTHER)
    assert [(each.name, each.inputs["shareArn"]) for each in made] == [
        ("p5-cb-one-share", SHARE),
        ("p5-cb-three-share", OTHER),
    ]


def test_a_share_stays_when_the_stack_goes(deploy):
    """The owner would have to invite the account again."""
    (made,) = accepted(deploy, one=SHARE)
    assert made.retain_on_delete
    assert made.parent.endswith("::outer")
