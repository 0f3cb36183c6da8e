"""Recorded refusals of AWS are classified as what they are, whatever their HTTP status is."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from tests.witness.support.calls import called
from tests.witness.support.errors import Refusal, known_refusals
from trainyard.components.account import error_codes
from trainyard.components.named.lookup import none_without_stack
from trainyard.diagnosis.known_errors import BUSY, EXISTS, PERMISSION, KnownError, known_error
from trainyard.workspace.recovery.account import is_missing

MISSING = {
    *("InvalidAllocationID.NotFound", "InvalidGroup.NotFound", "InvalidInternetGatewayID.NotFound"),
    *("InvalidLaunchTemplateId.NotFound", "InvalidNetworkInterfaceID.NotFound"),
    *("InvalidSnapshot.NotFound", "InvalidSubnetID.NotFound", "InvalidVolume.NotFound"),
    *("LifecyclePolicyNotFoundException", "NoSuchEntity", "NotFound", "NotFoundException"),
    *("ParameterNotFound", "PolicyNotFound", "PolicyNotFoundException"),
    *("RepositoryPolicyNotFoundException", "ResourceDataSyncNotFoundException"),
    *("ResourceNotFoundException", "TableNotFoundException", "VolumeNotFound"),
}
"""Codes with which AWS says that an object does not exist."""
OF_A_STACK = ("does not exist", "ValidationError")
"""CloudFormation says it in the text, with a code for any error."""
BY_FILTER = {
    *("InvalidAllocationID.NotFound", "InvalidGroup.NotFound", "InvalidInternetGatewayID.NotFound"),
    *("InvalidNetworkInterfaceID.NotFound", "InvalidSnapshot.NotFound", "InvalidSubnetID.NotFound"),
}
"""Codes of calls with ids, which the program makes with filters: those find nothing instead."""
DENIED = {"AccessDenied", "AccessDeniedException"}
THROTTLED = {"ThrottlingException"}
TAKEN = {
    *("BucketAlreadyOwnedByYou", "InvalidPermission.Duplicate"),
    "ResourceAlreadyExistsException",
}
ALL = known_refusals()
SETS = ("NOT_ALLOWED", "NOT_FOUND", "EXPIRED", "NOT_ACCEPTED", "THROTTLED", "BROKEN")


def error_of(refusal: Refusal) -> ClientError:
    error = {"Error": {"Code": refusal.code, "Message": refusal.text}}
    return ClientError(error, refusal.operation)  # pyright: ignore[reportArgumentType]


def says_missing(refusal: Refusal) -> bool:
    text, code = OF_A_STACK
    return refusal.code in MISSING or (refusal.code == code and text in refusal.text)


def sets_of(code: str) -> list[str]:
    return [name for name in SETS if code in getattr(error_codes, name)]


def entry_of(refusal: Refusal) -> KnownError | None:
    return known_error(str(error_of(refusal)))


@pytest.mark.parametrize("refusal", ALL, ids=lambda each: f"{each.operation}-{each.code}")
def test_a_refusal_is_what_it_is(refusal: Refusal) -> None:
    assert is_missing(error_of(refusal)) == says_missing(refusal)
    if refusal.code in DENIED:
        assert sets_of(refusal.code) == ["NOT_ALLOWED"]
        assert entry_of(refusal) is PERMISSION
    elif refusal.code in THROTTLED:
        assert sets_of(refusal.code) == ["THROTTLED"]
        assert entry_of(refusal) is BUSY
    elif refusal.code in TAKEN:
        assert not sets_of(refusal.code)
        assert entry_of(refusal) is EXISTS
    else:
        assert sets_of(refusal.code) in ([], ["NOT_FOUND"])
        assert says_missing(refusal) or not sets_of(refusal.code)
        assert entry_of(refusal) not in (PERMISSION, BUSY, EXISTS)


def test_readers_take_what_is_missing_for_missing() -> None:
    asked = {each.code for each in ALL if each.operation in called() and each.code in MISSING}
    unknown = {code for code in asked - BY_FILTER if "NOT_FOUND" not in sets_of(code)}
    assert not unknown, "error_codes.py"


@pytest.mark.parametrize(
    "refusal",
    [each for each in ALL if each.operation.startswith("cloudformation.")],
    ids=lambda each: each.text,
)
def test_a_missing_stack_is_known_by_the_text(refusal: Refusal) -> None:
    def do() -> object:
        raise error_of(refusal)

    if says_missing(refusal):
        assert none_without_stack(do)() is None
    else:
        with pytest.raises(ClientError):
            none_without_stack(do)()


def test_the_status_does_not_tell_what_a_refusal_is() -> None:
    """KMS denies with 400, where others say 403; what is missing is 400 or 404."""
    denied = {each.status for each in ALL if each.code in DENIED}
    missing = {each.status for each in ALL if says_missing(each)}
    assert denied == {400, 403}
    assert missing == {400, 404}
