"""Resource shares of other accounts: invitations, shared resources, and leaving a share.

moto implements the shares that an account creates. This module implements shares that it is invited
to: their resources are visible after the invitation is accepted and until the account leaves.

Source: https://docs.aws.amazon.com/ram/latest/APIReference/Welcome.html
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from moto.core.exceptions import JsonRESTError
from moto.ec2.models import ec2_backends
from moto.ram.exceptions import UnknownResourceException
from moto.ram.responses import ResourceAccessManagerResponse

from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation, reservations_of
from trainyard.sandbox.aws.state import state_of

RESERVATION_TYPE = "ec2:CapacityReservation"
"""RAM's resource type of a capacity reservation.
https://docs.aws.amazon.com/ram/latest/userguide/shareable.html"""

_OTHERS = "OTHER-ACCOUNTS"


@dataclass(kw_only=True)
class ResourceShare:
    """A share of another account, with this account's response to the invitation."""

    arn: str
    name: str
    owner_id: str
    reservations: tuple[CapacityReservation, ...]
    status: Literal["PENDING", "ACCEPTED", "LEFT"] = "PENDING"

    @property
    def invitation_arn(self) -> str:
        """ARN of the invitation; its id is that of the share."""
        return self.arn.replace(":resource-share/", ":resource-share-invitation/")

    def invitation(self, receiver_id: str) -> dict[str, Any]:
        """Return the invitation as RAM describes it."""
        return {
            "resourceShareInvitationArn": self.invitation_arn,
            "resourceShareName": self.name,
            "resourceShareArn": self.arn,
            "senderAccountId": self.owner_id,
            "receiverAccountId": receiver_id,
            "status": self.status,
        }


@dataclass
class ResourceShares:
    """The shares that an account is or was invited to in a region, by ARN."""

    by_arn: dict[str, ResourceShare] = field(default_factory=dict)

    def add(self, share: ResourceShare) -> None:
        """Invite the account to a share."""
        self.by_arn[share.arn] = share


def shares_of(ec2: Any) -> ResourceShares:
    """Return the shares of an EC2 backend's account and region."""
    return state_of(ec2, ResourceShares)


class SandboxRamResponse(ResourceAccessManagerResponse):
    """The receiver's calls; moto handles those of an owner."""

    def get_resource_share_invitations(self) -> str:
        """GetResourceShareInvitations: includes answered ones until the account leaves."""
        invitations = set(self.request_params.get("resourceShareInvitationArns") or ())
        found = [
            share.invitation(self.current_account)
            for share in self._requested()
            if share.status != "LEFT" and (not invitations or share.invitation_arn in invitations)
        ]
        return json.dumps({"resourceShareInvitations": found})

    def accept_resource_share_invitation(self) -> str:
        """AcceptResourceShareInvitation: makes the shared resources visible."""
        arn = self.request_params["resourceShareInvitationArn"]
        for share in self._shares():
            if share.invitation_arn == arn and share.status != "LEFT":
                break
        else:
            raise JsonRESTError(
                "ResourceShareInvitationArnNotFoundException",
                f"The specified resource share invitation ARN, {arn}, was not found.",
            )
        if share.status == "ACCEPTED":
            raise JsonRESTError(
                "ResourceShareInvitationAlreadyAcceptedException",
                f"The invitation {arn} was already accepted.",
            )
        share.status = "ACCEPTED"
        for reservation in share.reservations:
            reservations_of(self._ec2).add(reservation)
        return json.dumps({"resourceShareInvitation": share.invitation(self.current_account)})

    def get_resource_shares(self) -> str:
        """GetResourceShares, including shares of other accounts."""
        if self.request_params.get("resourceOwner") != _OTHERS:
            return super().get_resource_shares()
        found = [
            {
                "resourceShareArn": share.arn,
                "name": share.name,
                "owningAccountId": share.owner_id,
                "allowExternalPrincipals": True,
                "status": "ACTIVE",
            }
            for share in self._requested()
            if share.status == "ACCEPTED"
        ]
        return json.dumps({"resourceShares": found})

    def list_resources(self) -> str:
        """ListResources of shares of other accounts."""
        if self.request_params["resourceOwner"] != _OTHERS:
            raise JsonRESTError(
                "SandboxNotImplemented", "The sandbox lists resources of OTHER-ACCOUNTS only"
            )
        found = [
            {"arn": reservation.arn, "type": RESERVATION_TYPE, "resourceShareArn": share.arn}
            for share in self._requested()
            if share.status == "ACCEPTED"
            for reservation in share.reservations
        ]
        return json.dumps({"resources": found})

    def disassociate_resource_share(self) -> str:
        """DisassociateResourceShare by the receiver, who leaves the share."""
        arn, leaver = self.request_params["resourceShareArn"], self.current_account
        share = shares_of(self._ec2).by_arn.get(arn)
        if share is None or share.status != "ACCEPTED":
            raise UnknownResourceException(f"ResourceShare {arn} could not be found.")
        if self.request_params.get("principals") != [leaver]:
            raise JsonRESTError(
                "OperationNotPermittedException",
                f"Only the owner of {arn} may take other principals from it.",
            )
        share.status = "LEFT"
        for reservation in share.reservations:
            reservations_of(self._ec2).by_id.pop(reservation.reservation_id, None)
        left = {"associatedEntity": leaver, "associationType": "PRINCIPAL", "resourceShareArn": arn}
        return json.dumps(
            {"resourceShareAssociations": [{**left, "status": "DISASSOCIATED", "external": True}]}
        )

    @property
    def _ec2(self) -> Any:
        return ec2_backends[self.current_account][self.region]

    def _shares(self) -> Iterable[ResourceShare]:
        return list(shares_of(self._ec2).by_arn.values())

    def _requested(self) -> list[ResourceShare]:
        """Return the shares in the request; all shares if it has none."""
        wanted = self.request_params.get("resourceShareArns") or ()
        missing = [arn for arn in wanted if arn not in shares_of(self._ec2).by_arn]
        if missing:
            raise UnknownResourceException(f"ResourceShare {missing[0]} could not be found.")
        return [share for share in self._shares() if not wanted or share.arn in wanted]
