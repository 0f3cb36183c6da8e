"""The answers of AWS about compute environments, their queues and the jobs in them.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_Operations.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html (filters and pages)
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.importing.cloudformation.launch_template import has_only_comments
from trainyard.importing.live import launch_templates
from trainyard.importing.live.answers import CREATORS
from trainyard.importing.live.batch.repository import CALL, read_repositories
from trainyard.importing.live.roles import read_attached, read_inline, read_profiles

Answer = Mapping[str, Any]

_ENDING = ("DELETING", "DELETED")
_PAGES_OF_JOBS = 10
"""Pages of the jobs of a queue that are looked at: with a filter, 100 jobs a page, the newest
first."""
_ANY_TIME = [{"name": "AFTER_CREATED_AT", "values": ["0"]}]
"""The filter with which ListJobs returns jobs of every status."""


def read_answers(
    reader: AccountReader, name: str, *, with_repositories: bool = False
) -> dict[str, Any]:
    """Return the answers by call; empty if the region has no environment or queue of the name.

    Batch has no clusters. What belongs together are the environment or queue of the name, or those
    that the CloudFormation stack or the stack of the name created, and what queues connect them
    with.
    """
    environments, queues = _connected(name, *_listed(reader))
    if not (environments or queues):
        return {}
    resources = [each.get("computeResources") or {} for each in environments]
    definitions = list(_definitions(reader, name, queues))
    profiles = list(
        read_profiles(reader, (_last_part(each.get("instanceRole")) for each in resources))
    )
    roles = dict.fromkeys(
        [*(each["RoleName"] for each in profiles), *filter(None, map(_job_role, definitions))]
    )
    images = (_container(each).get("image", "") for each in definitions)
    found: dict[str, Any] = {
        "DescribeComputeEnvironments": environments,
        "DescribeJobQueues": queues,
        "DescribeJobDefinitions": definitions,
        launch_templates.CALL: list(
            launch_templates.read_templates(reader, _launched(resources), _without_text)
        ),
        "GetInstanceProfile": profiles,
        "ListAttachedRolePolicies": [read_attached(reader, role) for role in roles],
        "GetRolePolicy": [policy for role in roles for policy in read_inline(reader, role)],
        CALL: list(read_repositories(reader, images)) if with_repositories else [],
    }
    return {call: answer for call, answer in found.items() if answer}


def _listed(reader: AccountReader) -> tuple[list[Answer], list[Answer]]:
    batch = reader.client("batch")
    environments, queues = (
        [
            each
            for page in reader.pages(call, do)
            for each in page[key]
            if each.get("status") not in _ENDING
        ]
        for call, do, key in (
            (
                "batch:DescribeComputeEnvironments",
                batch.describe_compute_environments,
                "computeEnvironments",
            ),
            ("batch:DescribeJobQueues", batch.describe_job_queues, "jobQueues"),
        )
    )
    return environments, queues


def _connected(
    name: str, environments: Sequence[Answer], queues: Sequence[Answer]
) -> tuple[list[Answer], list[Answer]]:
    """Return the environments and queues of a name, and those that queues connect with them."""
    chosen = {
        *(each["computeEnvironmentArn"] for each in environments
          if _is_of(name, each, "computeEnvironmentName")),
        *(each["jobQueueArn"] for each in queues if _is_of(name, each, "jobQueueName")),
    }  # fmt: skip
    size = -1
    while size < len(chosen):
        size = len(chosen)
        for queue in queues:
            arns = {queue["jobQueueArn"], *_served(queue)}
            if arns & chosen:
                chosen |= arns
    return (
        [each for each in environments if each["computeEnvironmentArn"] in chosen],
        [each for each in queues if each["jobQueueArn"] in chosen],
    )


def _served(queue: Answer) -> Iterator[str]:
    for each in queue.get("computeEnvironmentOrder") or ():
        yield each["computeEnvironment"]


def _is_of(name: str, answer: Answer, key: str) -> bool:
    tags = answer.get("tags") or {}
    return answer[key] == name or any(tags.get(creator) == name for creator in CREATORS)


def _definitions(reader: AccountReader, name: str, queues: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the newest active revisions of the definitions of the name, and of jobs in queues."""
    batch = reader.client("batch")
    jobs = (
        job
        for queue in queues
        for page in islice(
            reader.pages(
                "batch:ListJobs", batch.list_jobs, jobQueue=queue["jobQueueArn"], filters=_ANY_TIME
            ),
            _PAGES_OF_JOBS,
        )
        for job in page["jobSummaryList"]
    )
    # arn:aws:batch:REGION:ACCOUNT:job-definition/NAME:REVISION
    used = {_last_part(job.get("jobDefinition")).partition(":")[0] for job in jobs}
    newest: dict[str, Answer] = {}
    for page in reader.pages(
        "batch:DescribeJobDefinitions", batch.describe_job_definitions, status="ACTIVE"
    ):
        for each in page["jobDefinitions"]:
            known = newest.get(each["jobDefinitionName"])
            if known is None or known["revision"] < each["revision"]:
                newest[each["jobDefinitionName"]] = each
    for key, each in newest.items():
        if key in used or _is_of(name, each, "jobDefinitionName"):
            yield each


def _container(definition: Answer) -> Answer:
    ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or [{}]
    return definition.get("containerProperties") or ranges[0].get("container") or {}


def _job_role(definition: Answer) -> str:
    return _last_part(_container(definition).get("jobRoleArn"))


def _last_part(arn: str | None) -> str:
    return (arn or "").rpartition("/")[2]


def _launched(resources: Iterable[Answer]) -> Iterator[tuple[str, str, str]]:
    """Yield the launch templates of compute environments, as `read_templates` takes them."""
    for each in resources:
        launch = each.get("launchTemplate") or {}
        for key in ("launchTemplateId", "launchTemplateName"):
            if launch.get(key):
                version = launch.get("version") or "$Default"
                yield key[0].upper() + key[1:], launch[key], version


def _without_text(encoded: str) -> str:
    """Return the number of lines of user data, whose text can have secrets; empty without any."""
    try:
        text = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return f"{len(encoded)} bytes in base64"
    return "" if has_only_comments(text) else f"{len(text.splitlines())} lines"
