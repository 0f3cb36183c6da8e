"""The acceptance of a resource share of another account.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/ram`,
`resource_share_accepter.go`: a creation takes a pending invitation only, a deletion leaves the
share.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values


def _accept(account: Account, inputs: Values) -> tuple[str, Values]:
    arn = inputs["shareArn"]
    pending = [each for each in _invitations(account, arn) if each["status"] == "PENDING"]
    if not pending:
        raise ProviderError(
            f"No pending RAM Resource Share ({arn}) invitation found\n\nNOTE: If both AWS accounts "
            "are in the same AWS Organization and RAM Sharing with AWS Organizations is enabled, "
            "this resource is not necessary"
        )
    account.client("ram").accept_resource_share_invitation(
        resourceShareInvitationArn=pending[0]["resourceShareInvitationArn"]
    )
    return arn, {}


def _invitations(account: Account, arn: str) -> list[dict[str, Any]]:
    found = account.client("ram").get_resource_share_invitations(resourceShareArns=[arn])
    return found["resourceShareInvitations"]


def _read(account: Account, arn: str) -> Values | None:
    ram = account.client("ram")
    try:
        shares = ram.get_resource_shares(resourceOwner="OTHER-ACCOUNTS", resourceShareArns=[arn])
    except ClientError as error:
        if _is_unknown(error):
            return None
        raise
    if not shares["resourceShares"]:
        return None
    (share,) = shares["resourceShares"]
    (invitation,) = _invitations(account, arn)
    resources = ram.list_resources(resourceOwner="OTHER-ACCOUNTS", resourceShareArns=[arn])
    return {
        "invitationArn": invitation["resourceShareInvitationArn"],
        "receiverAccountId": invitation["receiverAccountId"],
        "resources": [each["arn"] for each in resources["resources"]],
        "senderAccountId": share["owningAccountId"],
        "shareArn": share["resourceShareArn"],
        "shareId": f"rs-{arn.rpartition('/')[2]}",
        "shareName": share["name"],
        "status": share["status"],
    }


def _leave(account: Account, arn: str, outputs: Values) -> None:
    try:
        account.client("ram").disassociate_resource_share(
            resourceShareArn=arn, principals=[outputs["receiverAccountId"]]
        )
    except ClientError as error:
        if not _is_unknown(error):
            raise


def _is_unknown(error: ClientError) -> bool:
    return error.response["Error"]["Code"] == "UnknownResourceException"


ACCEPTER = ResourceType(
    token="aws:ram/resourceShareAccepter:ResourceShareAccepter",
    inputs=frozenset({"shareArn"}),
    required=frozenset({"shareArn"}),
    computed=frozenset(
        {
            "invitationArn",
            "receiverAccountId",
            "resources",
            "senderAccountId",
            "shareId",
            "shareName",
            "status",
        }
    ),
    replace_on=frozenset({"shareArn"}),
    create=_accept,
    read=_read,
    delete=_leave,
)

RESOURCE_TYPES = (ACCEPTER,)
