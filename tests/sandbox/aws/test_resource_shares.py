"""Resource shares of other accounts: accepted once, visible from then on, and left again."""

import pytest

from tests.support.aws_cases import SHARE
from tests.support.sandbox_aws import ACCOUNT, Account, refused

DELIVERED = "cr-0a550000000000002"
OWNER = "999988887777"


def invitations(account: Account) -> list[dict[str, str]]:
    found = account.client("ram").get_resource_share_invitations(resourceShareArns=[SHARE])
    return found["resourceShareInvitations"]


def accept(account: Account) -> None:
    (invitation,) = invitations(account)
    account.client("ram").accept_resource_share_invitation(
        resourceShareInvitationArn=invitation["resourceShareInvitationArn"]
    )


def reservations(account: Account) -> dict[str, str]:
    """Return the owner of each visible reservation."""
    found = account.ec2.describe_capacity_reservations()["CapacityReservations"]
    return {each["CapacityReservationId"]: each["OwnerId"] for each in found}


def test_an_invitation_waits_and_its_reservation_is_not_seen(account: Account) -> None:
    """PR-08: AWS delivers the capacity; an account cannot launch into it before accepting it."""
    (invitation,) = invitations(account)
    assert (invitation["status"], invitation["senderAccountId"]) == ("PENDING", OWNER)
    assert invitation["receiverAccountId"] == ACCOUNT
    assert DELIVERED not in reservations(account)


def test_an_accepted_share_shows_its_reservation_with_its_owner(account: Account) -> None:
    accept(account)
    assert invitations(account)[0]["status"] == "ACCEPTED"
    assert reservations(account)[DELIVERED] == OWNER


def test_what_is_in_a_share_is_listed(account: Account) -> None:
    ram = account.client("ram")
    asked = {"resourceOwner": "OTHER-ACCOUNTS", "resourceShareArns": [SHARE]}
    assert ram.list_resources(**asked)["resources"] == []
    assert ram.get_resource_shares(**asked)["resourceShares"] == []
    accept(account)
    (listed,) = ram.list_resources(**asked)["resources"]
    assert listed["arn"].endswith(f":{OWNER}:capacity-reservation/{DELIVERED}")
    (share,) = ram.get_resource_shares(**asked)["resourceShares"]
    assert (share["owningAccountId"], share["status"]) == (OWNER, "ACTIVE")


def test_an_invitation_is_accepted_once(account: Account) -> None:
    accept(account)
    with refused("ResourceShareInvitationAlreadyAcceptedException"):
        accept(account)


def test_whoever_leaves_sees_the_reservation_no_more(account: Account) -> None:
    accept(account)
    leave(account)
    assert DELIVERED not in reservations(account)
    assert invitations(account) == []
    with refused("UnknownResourceException"):
        leave(account)


def leave(account: Account, principal: str = ACCOUNT) -> None:
    account.client("ram").disassociate_resource_share(
        resourceShareArn=SHARE, principals=[principal]
    )


def test_only_the_owner_takes_others_from_a_share(account: Account) -> None:
    accept(account)
    with refused("OperationNotPermittedException"):
        leave(account, "111122223333")


@pytest.mark.parametrize("call", ["get_resource_share_invitations", "get_resource_shares"])
def test_a_share_that_is_not_there_is_an_error(account: Account, call: str) -> None:
    owner = {"resourceOwner": "OTHER-ACCOUNTS"} if call == "get_resource_shares" else {}
    ask = getattr(account.client("ram"), call)
    with refused("UnknownResourceException"):
        ask(resourceShareArns=[SHARE + "0"], **owner)


def test_an_invitation_that_is_not_there_is_an_error(account: Account) -> None:
    arn = SHARE.replace("resource-share", "resource-share-invitation") + "0"
    with refused("ResourceShareInvitationArnNotFoundException"):
        account.client("ram").accept_resource_share_invitation(resourceShareInvitationArn=arn)


def test_shares_of_the_accounts_own_stay_moto_s(account: Account) -> None:
    ram = account.client("ram")
    made = ram.create_resource_share(name="ours")["resourceShare"]["resourceShareArn"]
    found = ram.get_resource_shares(resourceOwner="SELF")["resourceShares"]
    assert [each["resourceShareArn"] for each in found] == [made]


def test_a_delivered_reservation_can_be_grouped_after_the_acceptance(account: Account) -> None:
    """PR-06: by its ARN, which names its owner."""
    accept(account)
    group = account.reservation_group()
    arn = f"arn:aws:ec2:us-west-2:{OWNER}:capacity-reservation/{DELIVERED}"
    added = account.client("resource-groups").group_resources(Group=group, ResourceArns=[arn])
    assert added["Failed"] == []
    listed = account.client("resource-groups").list_group_resources(Group=group)
    assert arn in [each["Identifier"]["ResourceArn"] for each in listed["Resources"]]
