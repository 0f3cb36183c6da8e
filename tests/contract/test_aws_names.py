"""The AWS plugin that is built from source uses the names of the installed pulumi-aws.

Its `mapping.go` is a manual version of pulumi-aws's own mapping; with a wrong name, the provider
would never get a property that the program sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
import yaml

from tests.support import aws_sdk, provider_answers
from tests.support.aws_plugin import described, mapped_types
from tests.support.aws_sdk import Declared
from tests.support.tracked import ROOT
from trainyard.components.engine_calls import SETTLED_BY_THE_PROVIDER

pytestmark = pytest.mark.engine

GOLDENS = sorted((ROOT / "tests" / "goldens" / "stacks").glob("*.yaml"))
TOKEN = re.compile(r'"(aws:[a-z0-9]+/\w+:\w+)"')
CALL = re.compile(r"\baws\.(?:(\w+)\.)?(get_\w+?)(?:_output)?\(")
FUNCTION = re.compile(r":get[A-Z]\w*$")

NEWER = {
    "added to terraform-provider-aws after 6.34.0, which the plugin is built from": {
        "aws:amp/scraper:Scraper.destination.cloudwatch",
        "aws:amp/scraper:Scraper.exporter",
        "aws:amp/scraper:Scraper.source.vpc",
        "aws:autoscaling/group:Group.instanceLifecyclePolicy",
        "aws:cloudwatch/metricAlarm:MetricAlarm.evaluationCriteria",
        "aws:cloudwatch/metricAlarm:MetricAlarm.evaluationInterval",
        "aws:cloudwatch/metricAlarm:MetricAlarm.evaluationWindow",
        "aws:cloudwatch/metricAlarm:MetricAlarm.warmUpConfiguration",
        "aws:ec2/flowLog:FlowLog.tagFieldSpecifications",
        "aws:ec2/getVpc:getVpc.ipv6CidrBlockAssociations",
        "aws:ec2/launchTemplate:LaunchTemplate.networkInterfaces.enaQueueCount",
        "aws:ec2/route:Route.odbNetworkArn",
        "aws:ec2/routeTable:RouteTable.routes.odbNetworkArn",
        "aws:eks/addon:Addon.namespaceConfig",
        "aws:eks/cluster:Cluster.kubeApiServerConfig",
        "aws:eks/cluster:Cluster.kubeControllerManagerConfig",
        "aws:eks/cluster:Cluster.kubeSchedulerConfig",
        "aws:eks/cluster:Cluster.outpostConfig.controlPlanePlacement.spreadLevel",
        "aws:eks/cluster:Cluster.outpostConfig.etcdInstanceType",
        "aws:eks/cluster:Cluster.outpostConfig.etcdPlacement",
        "aws:eks/cluster:Cluster.vpcConfig.controlPlaneEgressMode",
        "aws:eks/nodeGroup:NodeGroup.warmPoolConfig",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation.policy",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem.networkType",
        "aws:s3/bucket:Bucket.bucketNamespace",
        "aws:s3/bucket:Bucket.serverSideEncryptionConfiguration.rule.blockedEncryptionTypes",
        "aws:sns/topic:Topic.maximumMessageSize",
    },
    "a patch of pulumi-aws (https://github.com/pulumi/pulumi-aws/pull/5716), not of the provider": {
        "aws:eks/cluster:Cluster.defaultAddonsToRemoves",
    },
}
"""Properties that pulumi-aws has and the plugin lacks, by reason."""


def differences(
    where: str, ours: Mapping[str, Any], theirs: Mapping[str, Declared], *, given: bool
) -> Iterator[str]:
    """Yield the inputs and outputs whose names or types differ."""
    # Values that only AWS sets are no inputs; the SDK of this type has no `id`, but every resource
    # does.
    expected = {key for key, each in ours.items() if each["input"] or not given} - {"id"}
    if given:
        expected.discard("tagsAll")  # pulumi-aws sets it, and accepts no input
    for name in sorted(theirs.keys() - ours.keys() - {"id"}):
        yield f"{where}.{name}"
    for name in sorted(expected - theirs.keys()):
        yield f"{where}.{name} is not in pulumi-aws"
    for name in sorted(ours.keys() & theirs.keys()):
        shape, declared = shape_of(ours[name]), theirs[name]
        if shape != (declared.kind if declared.kind in ("list", "map", "object") else "scalar"):
            single = shape == "scalar" and declared.kind == "object"
            yield f"{where}.{name} is {'one' if single else shape}, {declared.kind} in pulumi-aws"
        fields = ours[name].get("fields")
        if fields and declared.type is not None:
            yield from differences(f"{where}.{name}", fields, declared.fields, given=given)


def shape_of(described: Mapping[str, Any]) -> str:
    """Return a property's kind: `list`, `map`, `object` or `scalar`."""
    kind, element = described["kind"], described.get("element")
    if kind == "one":
        # A list of at most one item is flattened to the item.
        return "object" if element is None else shape_of(element)
    if kind == "Map":
        return "object" if described.get("fields") else "map"
    return "list" if kind == "list" else "scalar"


def found(token: str) -> set[str]:
    ours = described()[token]
    if FUNCTION.search(token):
        given, answered = aws_sdk.arguments(token), aws_sdk.results(token)
    else:
        given, answered = aws_sdk.inputs(token), aws_sdk.outputs(token)
    return {
        *differences(token, ours, given, given=True),
        *differences(token, ours, answered, given=False),
    }


def test_every_name_and_shape_is_that_of_pulumi_aws() -> None:
    differing = set[str]().union(*map(found, described()))
    known = set[str]().union(*NEWER.values())
    assert differing - known == set()
    assert known - differing == set(), "the plugin has them now: take them out of NEWER"


@cache
def registered() -> Sequence[Mapping[str, Any]]:
    """Return every AWS resource of every stack."""
    loaded = (yaml.load(golden.read_bytes(), Loader=yaml.CSafeLoader) for golden in GOLDENS)
    return [made for stack in loaded for made in stack if made["type"].startswith("aws:")]


def test_every_type_of_the_stacks_and_of_the_eks_package_is_in_the_plugin() -> None:
    sources = (ROOT / "sandbox" / "providers" / "eks").glob("*.py")
    children = {t for each in sources for t in TOKEN.findall(each.read_text(encoding="utf-8"))}
    assert "aws:eks/cluster:Cluster" in children
    used = {made["type"] for made in registered()} | children
    assert used - described().keys() == set()


def test_every_function_that_components_call_is_in_the_plugin() -> None:
    calls = {
        call
        for path in (ROOT / "components").rglob("*.py")
        for call in CALL.findall(path.read_text(encoding="utf-8"))
    }
    assert len(calls) > 3
    functions = {SETTLED_BY_THE_PROVIDER, *(function_token(*call) for call in calls)}
    assert functions - described().keys() == set()


def function_token(module: str, python: str) -> str:
    first, *rest = python.split("_")
    name = first + "".join(part.capitalize() for part in rest)
    return f"aws:{module or 'index'}/{name}:{name}"


def test_the_stacks_give_what_the_plugin_takes() -> None:
    """The program uses no property that the plugin lacks."""
    unknown = {
        path
        for made in registered()
        for path in not_taken(made["type"], made["inputs"], described()[made["type"]])
    }
    assert unknown == set()


def not_taken(where: str, given: Any, ours: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name not in ours or not ours[name]["input"]:
            yield f"{where}.{name}"
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and ours[name].get("fields"):
                yield from not_taken(f"{where}.{name}", item, ours[name]["fields"])


def test_the_answers_of_the_test_engine_have_names_of_pulumi_aws() -> None:
    for token in mapped_types():
        answers = provider_answers.outputs(token, "it", {})
        assert answers.keys() <= aws_sdk.outputs(token).keys() | {"id"}, token
    for token, answers in provider_answers.CALLS.items():
        assert answers.keys() <= aws_sdk.results(token).keys(), token
