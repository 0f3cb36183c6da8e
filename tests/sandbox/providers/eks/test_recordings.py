"""The stand-in for pulumi-eks behaves like the recordings of the official component."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml
from pulumi.errors import InputPropertiesError

from tests.support.cloud import Cloud
from tests.support.eks import eks_plan
from tests.support.stacks import EKS_STACKS
from tests.support.tracked import ROOT
from tools.conformance.__main__ import RECORDINGS
from tools.conformance.eks_cluster import (
    BASE,
    TOKEN,
    VARIANTS,
    arguments,
    case_of,
    cases,
    construction,
    scrubbed,
)
from tools.conformance.plugin import Plugin, running
from tools.conformance.recordings import difference, expanded, read
from trainyard.components.eks.cluster import EksCluster, EksClusterArgs
from trainyard.sandbox.providers.eks.arguments import check_arguments
from trainyard.sandbox.providers.eks.cluster import kubeconfig

RECORDED = read(RECORDINGS)
STAND_IN = ROOT / "sandbox" / "providers" / "eks" / "pulumi-resource-eks"
PAIRS = [case for case in cases() if len(case) <= 2]
KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd"
ARGS = EksClusterArgs(
    cluster_name="p5-cb",
    vpc_id="vpc-1",
    subnet_ids=["subnet-1", "subnet-2"],
    kubernetes_version="1.35",
    authentication_mode="API_AND_CONFIG_MAP",
    endpoint_public_access=True,
    endpoint_private_access=True,
    public_access_cidrs=("203.0.113.0/24",),
    log_types=(),
    addon_versions=eks_plan().addon_versions,
    tags={"team": "vision"},
)


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    environment = {
        "PATH": os.environ["PATH"],
        "TMPDIR": tempfile.gettempdir(),
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "TRAINYARD_PYTHON": sys.executable,
    }
    log = tmp_path_factory.mktemp("stand-in") / "log"
    with running([str(STAND_IN)], environment=environment, log=log) as plugin:
        yield plugin


def without_versions(recorded: dict[str, Any]) -> dict[str, Any]:
    """The stand-in pins the program's plugin versions, so that a sandbox needs one of each."""
    return {key: value for key, value in recorded.items() if key != "plugins"}


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: "+".join(case) or "base")
def test_every_two_variants_make_what_the_component_makes_of_them(
    stand_in: Plugin, case: tuple[str, ...]
) -> None:
    recorded = without_versions(expanded(RECORDED, case))
    made = without_versions(scrubbed(stand_in.construct(construction(case))))
    assert difference(recorded, made) == {}


@pytest.mark.parametrize("stack", EKS_STACKS)
def test_the_arguments_of_every_stack_are_recorded(stack: str) -> None:
    golden = ROOT / "tests" / "goldens" / "stacks" / f"{stack}.yaml"
    registered = yaml.load(golden.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    (cluster,) = (made for made in registered if made["type"] == TOKEN)
    case_of(cluster["inputs"])
    check_arguments(cluster["inputs"])


@pytest.mark.parametrize("logs", [(), ("api", "audit")])
@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(("public", "private"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("mode", ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"])
def test_whatever_a_stack_file_may_ask_for_is_recorded(
    deploy: Callable[..., Cloud],
    mode: str,
    public: bool,
    private: bool,
    key: str | None,
    logs: tuple[str, ...],
) -> None:
    args = replace(
        ARGS,
        authentication_mode=mode,
        endpoint_public_access=public,
        endpoint_private_access=private,
        secrets_key_arn=key,
        log_types=logs,
    )
    given = deploy(lambda: EksCluster("p5-cb", args)).one("p5-cb-eks").inputs
    asked = (mode != "API_AND_CONFIG_MAP", not (public and private), key is not None, bool(logs))
    assert len(case_of(given)) == sum(asked)
    check_arguments(given)


def test_a_change_that_no_variant_has_is_no_case() -> None:
    with pytest.raises(LookupError, match="no recording has eks:index:Cluster"):
        case_of({**BASE, "createOidcProvider": False})


def test_the_stand_in_takes_what_is_recorded() -> None:
    for case in cases():
        check_arguments(arguments(case))


def altered() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the recorded arguments with one of them removed or changed."""
    for key, value in BASE.items():
        yield f"no {key}", {k: v for k, v in BASE.items() if k != key}
        if isinstance(value, bool):
            yield f"{key} {not value}", {**BASE, key: not value}
        if isinstance(value, dict) and key != "tags":
            for part in value:
                rest = {k: v for k, v in value.items() if k != part}
                yield f"no {key}.{part}", {**BASE, key: rest}
            yield f"{key}.more", {**BASE, key: {**value, "more": True}}
    yield "authenticationMode", {**BASE, "authenticationMode": "OTHER"}
    yield "resolve", {**BASE, "vpcCniOptions": {**BASE["vpcCniOptions"], CONFLICT: "PRESERVE"}}
    yield "fargate", {**BASE, "fargate": True}
    yield (
        "neither endpoint",
        {
            **arguments(("endpoint-private",)),
            "endpointPrivateAccess": False,
        },
    )


CONFLICT = "resolveConflictsOnUpdate"
ALTERED = dict(altered())
del ALTERED["endpointPrivateAccess False"]  # a variant


@pytest.mark.parametrize("what", ALTERED)
def test_the_stand_in_refuses_what_no_recording_has(what: str) -> None:
    with pytest.raises(LookupError):
        case_of(ALTERED[what])
    with pytest.raises(InputPropertiesError):
        check_arguments(ALTERED[what])


def test_the_recordings_have_every_variant() -> None:
    known = {*itertools.chain.from_iterable(VARIANTS)}
    assert {name for name in RECORDED["variants"] if "+" not in name} == known


def test_a_role_is_the_last_argument_of_the_command_for_tokens() -> None:
    """`generateKubeconfig` in `nodejs/eks/cluster/cluster.ts`; no recording has a role."""
    given = {"cluster": "c", "endpoint": "https://e", "region": "us-west-2"}
    made = [
        kubeconfig(**given, certificate_authority_data="", **role)
        for role in ({}, {"role_arn": "arn:aws:iam::210987654321:role/r"})
    ]
    plain, with_role = (each["users"][0]["user"]["exec"]["args"] for each in made)
    assert with_role == [*plain, "--role", "arn:aws:iam::210987654321:role/r"]
    check_arguments({**BASE, "providerCredentialOpts": {"roleArn": "r"}})
