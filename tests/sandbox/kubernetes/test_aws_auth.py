"""Entries that EKS writes to aws-auth for managed node groups."""

from __future__ import annotations

import pytest
import yaml

from trainyard.sandbox.kubernetes.api import ApiError
from trainyard.sandbox.kubernetes.credentials import AwsAuthError, map_node_role

ROLE = "arn:aws:iam::123456789012:role/node"
ODD = """\
# kept by hand
- {rolearn: arn:aws:iam::123456789012:role/other, username: other,
   groups: [g]}  # odd
"""


class Api:
    """The API server's ConfigMap aws-auth; None if it does not exist."""

    def __init__(self, data=None):
        self.data, self.version = data, 1

    def get(self, _path):
        if self.data is None:
            raise ApiError(404, "not found")
        return {"metadata": {"resourceVersion": str(self.version)}, "data": dict(self.data)}

    def post(self, _path, _body):
        self.data = {}
        return self.get("")

    def patch(self, _path, body):
        assert body["metadata"]["resourceVersion"] == str(self.version)
        self.data |= body["data"]
        self.version += 1


def test_the_map_is_made_where_there_is_none():
    api = Api()
    map_node_role(api, ROLE)
    assert yaml.safe_load(api.data["mapRoles"]) == [
        {
            "rolearn": ROLE,
            "username": "system:node:{{EC2PrivateDNSName}}",
            "groups": ["system:bootstrappers", "system:nodes"],
        }
    ]


@pytest.mark.parametrize("text", [ODD, ODD.rstrip("\n")], ids=["line-ended", "line-open"])
def test_what_was_there_is_kept_as_it_was_written(text):
    api = Api({"mapRoles": text, "mapUsers": "- x"})
    map_node_role(api, ROLE)
    assert api.data["mapRoles"].startswith(ODD.rstrip("\n"))
    assert api.data["mapUsers"] == "- x"
    assert len(yaml.safe_load(api.data["mapRoles"])) == 2


def test_a_role_that_is_there_is_not_added_again():
    api = Api()
    map_node_role(api, "arn:aws:iam::123456789012:role/path/node")
    map_node_role(api, ROLE)
    assert api.version == 2


@pytest.mark.parametrize(
    "text",
    ["[{rolearn: a, username: u}]", "  - rolearn: a\n    username: u\n", "[]\n"],
    ids=["brackets", "indented", "empty"],
)
def test_a_list_in_another_form_is_written_anew(text):
    api = Api({"mapRoles": text})
    map_node_role(api, ROLE)
    before = yaml.safe_load(text)
    assert yaml.safe_load(api.data["mapRoles"])[:-1] == before
    assert yaml.safe_load(api.data["mapRoles"])[-1]["rolearn"] == ROLE


@pytest.mark.parametrize("text", ["{", "a: b"], ids=["not-yaml", "not-a-list"])
def test_refuses_to_add_to_what_it_cannot_read(text):
    with pytest.raises(AwsAuthError, match="mapRoles of aws-auth is not"):
        map_node_role(Api({"mapRoles": text}), ROLE)
