"""Every key of the providers in a stack file is honoured, or refused with what to do instead."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest

from tests.support.tracked import ROOT
from trainyard.components.catalog.provider_keys import (
    AWS_KEYS,
    EKS_KEYS,
    ENDPOINTS_OF,
    KUBERNETES_KEYS,
    PROVIDER_KEYS,
    Support,
    endpoint_keys,
)
from trainyard.components.config.problems import Problem
from trainyard.components.config.provider_settings import (
    OF_ENVIRONMENT,
    AssumedRole,
    ProviderSettings,
    provider_problems,
    provider_settings,
    token_problems,
)

FILE = "Pulumi.a.yaml"
ROLE = "arn:aws:iam::210987654321:role/deploys-training"
OTHER_ROLE = "arn:aws:iam::123456789012:role/path/first"
EVERY_KEY = [(space, key) for space, keys in PROVIDER_KEYS.items() for key in keys]
REFUSED = [each for each in EVERY_KEY if PROVIDER_KEYS[each[0]][each[1]].support is Support.REFUSED]
ACCEPTED = [each for each in EVERY_KEY if each not in REFUSED]


def source_of(package: str, module: str) -> str:
    """Return the source of a module of an installed package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name(module).read_text(encoding="utf-8")


def problems(**config: Any) -> list[Problem]:
    """Return the problems of keys of `aws`, beside a region."""
    given = {f"aws:{key}": value for key, value in config.items()}
    return provider_problems({"aws:region": "us-west-2", **given}, stack_file=FILE)


def settings(**config: Any) -> ProviderSettings:
    found = provider_settings({f"aws:{k}": v for k, v in config.items()}, stack_file=FILE)
    assert not found.problems
    return found


def test_the_table_has_every_key_of_pulumi_aws() -> None:
    source = source_of("pulumi_aws.config", "vars.py")
    assert set(re.findall(r"__config__\.get\w*\('(\w+)'\)", source)) == AWS_KEYS.keys()


def test_the_table_has_every_argument_of_the_provider_of_pulumi_kubernetes() -> None:
    source = source_of("pulumi_kubernetes", "provider.py")
    arguments = source.partition("class ProviderArgs")[2].partition("\nclass ")[0]
    written = re.findall(r"@pulumi\.getter(?:\(name=\"(\w+)\"\))?\n +def (\w+)", arguments)
    assert {camel or name for camel, name in written} == KUBERNETES_KEYS.keys()


def test_pulumi_eks_has_no_settings() -> None:
    spec = find_spec("pulumi_eks")
    assert spec is not None
    assert spec.origin is not None
    assert not (Path(spec.origin).parent / "config").exists()
    assert not EKS_KEYS


def test_the_keys_of_endpoints_are_those_of_pulumi_aws() -> None:
    source = source_of("pulumi_aws", "_inputs.py")
    entry = source.partition("class ProviderEndpointArgsDict(")[2].partition("\nclass ")[0]
    written = re.findall(r"^    (\w+): NotRequired", entry, re.MULTILINE)
    assert sorted(name.removesuffix("_") for name in written) == [*endpoint_keys()]


def test_each_service_that_is_called_has_its_keys_of_endpoints() -> None:
    """A client of another service would ignore `aws:endpoints`."""
    known = {*endpoint_keys()}
    for service, keys in ENDPOINTS_OF.items():
        assert service in boto3.Session().get_available_services()
        assert known.issuperset(keys)
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("components", "src/trainyard")
        for path in (ROOT / folder).rglob("*.py")
        if "sandbox" not in path.parts
    ]
    asked = re.findall(r"\.client\(\s*\"([a-z0-9-]+)\"", "\n".join(texts))
    assert {*asked} <= ENDPOINTS_OF.keys()


@pytest.mark.parametrize(("space", "key"), REFUSED)
def test_what_is_not_honoured_is_refused_with_what_to_do(space: str, key: str) -> None:
    given = {"aws:region": "us-west-2", f"{space}:{key}": "some-value"}
    (problem,) = provider_problems(given, stack_file=FILE)
    assert problem.path == f"{space}:{key}"
    assert f"pulumi config rm --stack a '{space}:{key}'" in problem.remedy
    assert "some-value" not in str(problem)
    instead = PROVIDER_KEYS[space][key].instead
    assert instead == "remove it" or instead.split(";")[-1].split(", and ")[-1] in problem.remedy


@pytest.mark.parametrize(
    ("key", "value"),
    [("insecure", False), ("skipMetadataApiCheck", "false"), ("skipRequestingAccountId", False)],
)
def test_a_refused_key_with_its_default_is_accepted(key: str, value: object) -> None:
    assert not problems(**{key: value})
    assert problems(**{key: True})


@pytest.mark.parametrize(
    "key", [key for _, key in ACCEPTED if AWS_KEYS[key].support is Support.ENGINE]
)
def test_settings_of_repeated_calls_are_left_to_the_engine(key: str) -> None:
    assert settings(**{key: "1"}) == OF_ENVIRONMENT


@pytest.mark.parametrize(
    ("key", "value", "field", "read"),
    [
        ("region", "us-west-2", "region", "us-west-2"),
        ("profile", "team", "profile", "team"),
        ("assumeRoles", [{"roleArn": ROLE}], "roles", (AssumedRole(role_arn=ROLE),)),
        ("allowedAccountIds", ["123456789012"], "allowed_account_ids", ("123456789012",)),
        ("forbiddenAccountIds", ["123456789012"], "forbidden_account_ids", ("123456789012",)),
        ("endpoints", [{"ec2": "https://x.y"}], "endpoints", (("ec2", "https://x.y"),)),
        ("stsRegion", "eu-north-1", "sts_region", "eu-north-1"),
        ("s3UsePathStyle", True, "use_path_style", True),
        ("useDualstackEndpoint", True, "use_dual_stack", True),
        ("useFipsEndpoint", True, "use_fips", True),
    ],
)
def test_each_honoured_key_is_read_from_yaml_and_from_the_engine(
    key: str, value: object, field: str, read: object
) -> None:
    """The engine hands on a text as it is, and everything else as JSON."""
    assert getattr(settings(**{key: value}), field) == read
    text = value if isinstance(value, str) else json.dumps(value)
    assert getattr(settings(**{key: text}), field) == read
    assert getattr(OF_ENVIRONMENT, field) != read


def test_all_honoured_keys_have_an_example_above() -> None:
    mark = test_each_honoured_key_is_read_from_yaml_and_from_the_engine.pytestmark[0]
    honoured = {key for key, each in AWS_KEYS.items() if each.support is Support.HONOURED}
    assert {case[0] for case in mark.args[1]} == honoured


def snake(key: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key)


def swapped(key: str) -> str:
    return f"{key[:-2]}{key[-1]}{key[-2]}"


@pytest.mark.parametrize("misspelt", [snake, swapped, str.upper, lambda key: f"config:{key}"])
@pytest.mark.parametrize("key", [key for _, key in ACCEPTED])
def test_a_misspelt_key_is_answered_with_the_nearest(key: str, misspelt: Any) -> None:
    wrong = misspelt(key)
    if wrong in AWS_KEYS:
        return
    (problem,) = [each for each in problems(**{wrong: "x"}) if each.path == f"aws:{wrong}"]
    assert f"the nearest is `aws:{key}`" in problem.problem
    assert problem.remedy == f"rename it to `aws:{key}` in {FILE}"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("asw:region", "aws:region"),
        ("AWS:profile", "aws:profile"),
        ("aws:assumeRole", "aws:assumeRoles"),
        ("eks:region", "aws:region"),
        ("eks:profile", "aws:profile"),
        ("kubernets:kubeconfig", "kubernetes:kubeconfig"),
        ("kubernetes:contxt", "kubernetes:context"),
        ("trainyrad:cluster", "trainyard:cluster"),
    ],
)
def test_a_misspelt_namespace_is_answered_too(wrong: str, meant: str) -> None:
    given = {"aws:region": "us-west-2", wrong: "x"}
    (problem,) = provider_problems(given, stack_file=FILE)
    assert (problem.path, f"`{meant}`" in problem.problem) == (wrong, True)


def test_a_key_that_is_like_no_other_is_removed() -> None:
    given = {"aws:region": "us-west-2", "eks:foo": 1}
    (problem,) = provider_problems(given, stack_file=FILE)
    assert problem.problem == "is no setting of the eks provider"
    assert problem.remedy == "pulumi config rm --stack a 'eks:foo'"


@pytest.mark.parametrize("key", ["pulumi:tags", "awsx:x", "other:region", "trainyard:cluster"])
def test_keys_of_other_packages_are_left_alone(key: str) -> None:
    assert not provider_problems({"aws:region": "us-west-2", key: {}}, stack_file=FILE)


MODEL = botocore.session.get_session().get_service_model("sts").operation_model("AssumeRole")
MEMBERS: Any = MODEL.input_shape and MODEL.input_shape.members


@pytest.mark.parametrize(
    ("key", "member"),
    [
        ("sessionName", "RoleSessionName"),
        ("externalId", "ExternalId"),
        ("sourceIdentity", "SourceIdentity"),
    ],
)
def test_texts_of_a_role_are_those_that_sts_accepts(key: str, member: str) -> None:
    limits = MEMBERS[member].metadata
    accepted = [limits["min"], limits["max"]]
    for length in range(limits["max"] + 2):
        found = problems(assumeRoles=[{"roleArn": ROLE, key: "a" * length}])
        assert bool(found) is (length > 0 and not accepted[0] <= length <= accepted[1])
    for character in map(chr, range(32, 127)):
        is_accepted = re.fullmatch(limits["pattern"], character, re.ASCII) is not None
        found = problems(assumeRoles=[{"roleArn": ROLE, key: f"a{character}a"}])
        assert bool(found) is not is_accepted


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [("15m", 900), ("1h", 3600), ("1h30m", 5400), ("12h", 43200), ("900s", 900)],
)
def test_a_duration_is_one_of_go_and_of_sts(duration: str, seconds: int) -> None:
    (role,) = settings(assumeRoles=[{"roleArn": ROLE, "duration": duration}]).roles
    assert role.duration_seconds == seconds
    limits = MEMBERS["DurationSeconds"].metadata
    assert limits["min"] <= seconds <= limits["max"]


@pytest.mark.parametrize("duration", ["14m59s", "12h1s", "3600", 3600, "1 h", "an hour"])
def test_another_duration_is_refused(duration: object) -> None:
    (problem,) = problems(assumeRoles=[{"roleArn": ROLE, "duration": duration}])
    assert problem.path == "aws:assumeRoles[0].duration"


def test_the_session_of_a_chained_role_has_at_most_an_hour() -> None:
    roles = [{"roleArn": OTHER_ROLE, "duration": "2h"}, {"roleArn": ROLE, "duration": "2h"}]
    (problem,) = problems(assumeRoles=roles)
    assert problem.path == "aws:assumeRoles[1].duration"
    assert (
        problem.allowed == "from 15m to 1h for a role that another role assumes, such as 1h or 45m"
    )


def test_all_of_a_role_is_read() -> None:
    policy = {"Version": "2012-10-17", "Statement": []}
    given = {
        "roleArn": ROLE,
        "sessionName": "ci",
        "externalId": "team",
        "duration": "1h",
        "policy": json.dumps(policy),
        "policyArns": ["arn:aws:iam::aws:policy/ReadOnlyAccess"],
        "sourceIdentity": "me",
        "tags": {"team": "vision"},
        "transitiveTagKeys": ["team"],
    }
    source = source_of("pulumi_aws", "_inputs.py")
    entry = source.partition("class ProviderAssumeRoleArgs:")[2].partition("\nclass ")[0]
    written = re.findall(r"@pulumi\.getter(?:\(name=\"(\w+)\"\))?\n +def (\w+)", entry)
    assert {camel or name for camel, name in written} == given.keys()
    (role,) = settings(assumeRoles=[given]).roles
    assert role == AssumedRole(
        role_arn=ROLE,
        session_name="ci",
        external_id="team",
        duration_seconds=3600,
        policy=json.dumps(policy),
        policy_arns=("arn:aws:iam::aws:policy/ReadOnlyAccess",),
        source_identity="me",
        tags=(("team", "vision"),),
        transitive_tag_keys=("team",),
    )
    assert role.account_id == "210987654321"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("text", "aws:assumeRoles"),
        (["text"], "aws:assumeRoles[0]"),
        ([{}], "aws:assumeRoles[0].roleArn"),
        ([{"roleArn": "deploys-training"}], "aws:assumeRoles[0].roleArn"),
        ([{"roleArn": "arn:aws:iam::210987654321:user/me"}], "aws:assumeRoles[0].roleArn"),
        ([{"roleArn": ROLE, "external_id": "team"}], "aws:assumeRoles[0].external_id"),
        ([{"roleArn": ROLE, "policy": "no JSON"}], "aws:assumeRoles[0].policy"),
        ([{"roleArn": ROLE, "tags": ["team"]}], "aws:assumeRoles[0].tags"),
        ([{"roleArn": ROLE, "policyArns": "a"}], "aws:assumeRoles[0].policyArns"),
    ],
)
def test_a_wrong_role_is_refused_at_its_place(given: object, path: str) -> None:
    (problem,) = problems(assumeRoles=given)
    assert problem.path == path


@pytest.mark.parametrize(
    ("given", "path", "says"),
    [
        ([123456789012], "aws:allowedAccountIds[0]", "in quotes"),
        (["12345"], "aws:allowedAccountIds[0]", "12 digits"),
        ("123456789012", "aws:allowedAccountIds", "a list"),
    ],
)
def test_an_account_id_is_text_of_twelve_digits(given: object, path: str, says: str) -> None:
    (problem,) = problems(allowedAccountIds=given)
    assert problem.path == path
    assert says in str(problem.allowed)


def test_a_role_of_an_excluded_account_is_refused_without_an_account() -> None:
    roles = [{"roleArn": ROLE}]
    (allowed,) = problems(assumeRoles=roles, allowedAccountIds=["123456789012"])
    assert "excludes account 210987654321" in allowed.problem
    (forbidden,) = problems(assumeRoles=roles, forbiddenAccountIds=["210987654321"])
    assert "excludes account 210987654321" in forbidden.problem
    assert not problems(assumeRoles=roles, allowedAccountIds=["210987654321"])


def test_accounts_are_either_allowed_or_forbidden() -> None:
    both = {"allowedAccountIds": ["123456789012"], "forbiddenAccountIds": ["210987654321"]}
    (problem,) = problems(**both)
    assert problem.path == "aws:forbiddenAccountIds"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ([{"ec2": "vpce.example"}], "aws:endpoints[0].ec2"),
        ([{"ec3": "https://x.y"}], "aws:endpoints[0].ec3"),
        ("https://x.y", "aws:endpoints"),
        (["https://x.y"], "aws:endpoints[0]"),
    ],
)
def test_a_wrong_endpoint_is_refused_at_its_place(given: object, path: str) -> None:
    (problem,) = problems(endpoints=given)
    assert problem.path == path


def test_a_service_has_an_endpoint_by_each_of_its_names() -> None:
    for service, keys in ENDPOINTS_OF.items():
        for key in keys:
            assert settings(endpoints=[{key: "https://x.y"}]).endpoints == (
                (service, "https://x.y"),
            )
    assert settings(endpoints={"ec2": "https://x.y"}).endpoints == (("ec2", "https://x.y"),)
    assert settings(endpoints=[{"glue": "https://x.y", "ec2": ""}]).endpoints == ()


@pytest.mark.parametrize("key", ["s3UsePathStyle", "useDualstackEndpoint", "useFipsEndpoint"])
def test_a_switch_is_true_or_false(key: str) -> None:
    assert settings(**{key: False}) == OF_ENVIRONMENT
    (problem,) = problems(**{key: "yes"})
    assert problem.path == f"aws:{key}"


@pytest.mark.parametrize(
    ("roles", "is_refused"),
    [
        ([], False),
        ([{"roleArn": ROLE, "sessionName": "ci", "duration": "1h"}], False),
        ([{"roleArn": ROLE, "externalId": "team"}], True),
        ([{"roleArn": OTHER_ROLE}, {"roleArn": ROLE}], True),
    ],
)
def test_the_kubeconfig_of_eks_assumes_one_role(roles: list[Any], is_refused: bool) -> None:
    """`aws eks get-token` has --role-arn, and no option for an external id."""
    found = token_problems(settings(assumeRoles=roles), stack_file=FILE)
    assert bool(found) is is_refused
    assert all("source_profile" in each.remedy for each in found)
