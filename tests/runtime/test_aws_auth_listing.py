"""Principals that aws-auth authorizes, in addition to those with an access entry."""

import pytest

from tests.runtime.support.aws_auth import TWENTY_ROLES, USERS
from trainyard.components.runtime.aws_auth_listing import review_map_roles, without_access_entry
from trainyard.components.runtime.aws_auth_plan import MapRolesError

ROLE = "arn:aws:iam::123456789012:role/Admins"


def test_everybody_of_a_grown_map_is_listed():
    found = without_access_entry({"mapRoles": TWENTY_ROLES, "mapUsers": USERS}, ())
    assert len(found) == 22
    assert f"{ROLE} (mapRoles: system:masters)" in found
    assert "arn:aws:iam::123456789012:user/bob (mapUsers: no group)" in found


@pytest.mark.parametrize(
    "entry", [ROLE, ROLE.lower(), ROLE.replace("role/", "role/company/people/")]
)
def test_who_has_an_access_entry_is_not_listed(entry):
    assert without_access_entry({"mapRoles": f"[{{rolearn: {ROLE}}}]"}, [entry]) == []


def test_an_account_never_has_an_access_entry():
    (found,) = without_access_entry({"mapAccounts": '["210987654321"]'}, [ROLE])
    assert "account 210987654321" in found


@pytest.mark.parametrize("text", ["", "[]", "# nobody", "- text", "roles: none", "- [broken"])
def test_what_lets_nobody_in_lists_nobody(text):
    assert without_access_entry({"mapRoles": text}, ()) == []


def test_a_list_of_roles_can_be_worked_on():
    review_map_roles({"mapRoles": TWENTY_ROLES})
    review_map_roles({})


@pytest.mark.parametrize("text", ["- rolearn: [broken\n", "roles: none"])
def test_a_map_that_cannot_be_worked_on_is_refused_with_the_reason(text):
    with pytest.raises(MapRolesError, match="mapRoles"):
        review_map_roles({"mapRoles": text})
