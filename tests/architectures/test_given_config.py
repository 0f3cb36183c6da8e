"""What the engine hands on to the program is checked like the stack file."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.cloud import Cloud
from tests.support.eks import changed
from trainyard.components.architectures.given_config import given_config, given_settings
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import AssumedRole

FILE = "Pulumi.test.yaml"
ROLE = "arn:aws:iam::210987654321:role/deploys-training"
CLUSTER = {"aws:region": "us-west-2", "trainyard:cluster": json.dumps(changed())}


def refused(deploy: Callable[..., Cloud], **config: str) -> list[str]:
    """Return the keys that the program refuses."""
    found: list[str] = []

    def program() -> None:
        try:
            given_config(FILE)
        except ConfigError as error:
            found.extend(problem.path for problem in error.problems)

    deploy(program, config={**CLUSTER, **config})
    return found


@pytest.mark.parametrize(
    "config",
    [
        {"aws:accessKey": "AKIA"},
        {"aws:regoin": "us-west-2"},
        {"kubernetes:context": "mine"},
        {"eks:foo": "1"},
        {"aws:allowedAccountIds": "[123456789012]"},
        {"aws:assumeRoles": json.dumps([{"roleArn": ROLE}, {"roleArn": ROLE}])},
    ],
)
def test_the_program_refuses_settings_that_it_cannot_honour(
    deploy: Callable[..., Cloud], config: dict[str, str]
) -> None:
    (key,) = config
    (found,) = refused(deploy, **config)
    assert found.startswith(key)


def test_the_program_reaches_the_account_with_the_settings_of_the_engine(
    deploy: Callable[..., Cloud],
) -> None:
    roles = {"aws:assumeRoles": json.dumps([{"roleArn": ROLE}])}
    assert refused(deploy, **roles) == []
    found = []
    deploy(lambda: found.append(given_settings(FILE)), config={**CLUSTER, **roles})
    assert found[0].roles == (AssumedRole(role_arn=ROLE),)
