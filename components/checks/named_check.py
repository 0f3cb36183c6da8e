"""Account checks of everything that a stack file names, one row for each kind of object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account import named_lookup
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.named_lookup import LookUp, NotReadError
from trainyard.components.account.readings import Reading
from trainyard.components.checks.access_point_check import access_point_problems
from trainyard.components.checks.bucket_check import (
    bucket_warnings,
    repository_problems,
    repository_warnings,
    script_problems,
    script_warnings,
)
from trainyard.components.checks.check import Check, Subject
from trainyard.components.checks.container_image_check import container_image_warnings
from trainyard.components.checks.function_check import function_problems
from trainyard.components.checks.kms_key_check import kms_key_problems, kms_key_warnings
from trainyard.components.checks.made_name_check import MADE
from trainyard.components.checks.noun import NamedContext, Noun
from trainyard.components.checks.placement_group_check import placement_group_problems
from trainyard.components.checks.policy_check import policy_problems
from trainyard.components.checks.topic_check import topic_problems, topic_warnings
from trainyard.components.checks.workspace_check import workspace_problems
from trainyard.components.config.named import Named

NOUNS: Mapping[str, Noun] = {
    "iam-policy": Noun(
        check="IAM policies",
        asked="AWS has the policy at this path",
        calls=(named_lookup.GET_POLICY,),
        look_up=named_lookup.look_up_policy,
        problems=policy_problems,
    ),
    "kms-key": Noun(
        check="KMS keys",
        asked="the key exists, is enabled and symmetric",
        calls=(named_lookup.DESCRIBE_KEY,),
        look_up=named_lookup.look_up_kms_key,
        problems=kms_key_problems,
        warnings=kms_key_warnings,
    ),
    "placement-group": Noun(
        check="placement groups",
        asked="the placement group exists, is available, of strategy cluster",
        calls=(named_lookup.DESCRIBE_GROUPS,),
        look_up=named_lookup.look_up_placement_group,
        problems=placement_group_problems,
    ),
    "s3-path": Noun(
        check="data repositories",
        asked="the bucket exists, in the region if changes are imported",
        calls=(named_lookup.HEAD_BUCKET,),
        look_up=named_lookup.look_up_bucket,
        problems=repository_problems,
        warnings=repository_warnings,
    ),
    "s3-bucket": Noun(
        check="buckets",
        asked="the bucket exists",
        calls=(named_lookup.HEAD_BUCKET,),
        look_up=named_lookup.look_up_bucket,
        warnings=bucket_warnings,
    ),
    "script": Noun(
        check="scripts",
        asked="the script exists in S3",
        calls=(named_lookup.HEAD_OBJECT,),
        look_up=named_lookup.look_up_script,
        problems=script_problems,
        warnings=script_warnings,
    ),
    "access-point": Noun(
        check="access points",
        asked="the access point exists, of this file system",
        calls=(named_lookup.DESCRIBE_ACCESS_POINTS,),
        look_up=named_lookup.look_up_access_point,
        problems=access_point_problems,
    ),
    "lambda-function": Noun(
        check="provider",
        asked="the provider of ParallelCluster exists",
        calls=(named_lookup.GET_FUNCTION,),
        look_up=named_lookup.look_up_function,
        problems=function_problems,
    ),
    "container-image": Noun(
        check="container images",
        asked="ECR has the image",
        calls=(named_lookup.DESCRIBE_CONTAINER_IMAGES,),
        look_up=named_lookup.look_up_container_image,
        warnings=container_image_warnings,
    ),
    "sns-topic": Noun(
        check="SNS topics",
        asked="the topic exists, and EventBridge may publish to it",
        calls=(named_lookup.GET_TOPIC,),
        look_up=named_lookup.look_up_topic,
        problems=topic_problems,
        warnings=topic_warnings,
    ),
    "prometheus-workspace": Noun(
        check="Prometheus workspaces",
        asked="the workspace exists and receives metrics",
        calls=(named_lookup.DESCRIBE_WORKSPACE,),
        look_up=named_lookup.look_up_workspace,
        problems=workspace_problems,
    ),
    **MADE,
}
"""By `Form.names`, and kinds of objects that a stack creates under a fixed name."""


def named_readings(reader: AccountReader, uses: Iterable[Named]) -> Iterator[Reading]:
    """Yield a reading for each named object."""
    wanted = {(use.kind, use.name): NOUNS[use.kind].look_up for use in uses}
    for (kind, name), look_up in wanted.items():
        yield lambda kind=kind, name=name, look_up=look_up: _reading(reader, kind, name, look_up)


def _reading(
    reader: AccountReader, kind: str, name: str, look_up: LookUp
) -> Mapping[str, Mapping[Any, Any]]:
    try:
        return {"named": {(kind, name): look_up(reader, name)}}
    except NotReadError:
        return {"named": {}}


def named_checks(uses: Iterable[Named], context: NamedContext) -> Iterator[Check]:
    """Yield one check for each kind of named object."""
    by_kind: dict[str, list[Named]] = {}
    for use in uses:
        by_kind.setdefault(use.kind, []).append(use)
    named = context.facts.named
    for kind, same in by_kind.items():
        noun = NOUNS[kind]
        problems = (
            problem
            for use in same
            if (kind, use.name) in named
            for problem in noun.problems(use, named[kind, use.name], context)
        )
        yield Check(noun.check, problems, _subjects(noun, same, context))


def named_warnings(uses: Iterable[Named], context: NamedContext) -> Iterator[str]:
    """Yield what AWS accepts of the named objects, but is hardly meant."""
    named = context.facts.named
    for use in uses:
        if (use.kind, use.name) in named:
            found = named[use.kind, use.name]
            yield from NOUNS[use.kind].warnings(use, found, context)


def _subjects(noun: Noun, uses: Iterable[Named], context: NamedContext) -> Iterator[Subject]:
    """Yield one subject for each key, also if the objects could not be read."""
    facts = context.facts
    by_key: dict[str, list[str]] = {}
    for use in uses:
        if (use.kind, use.name) in facts.named or not all(
            facts.could_read(call) for call in noun.calls
        ):
            by_key.setdefault(re.sub(r"\[\d+\]$", "", use.key), []).append(use.name)
    for key, names in by_key.items():
        yield Subject(key, noun.asked, ", ".join(names), noun.calls)
