"""The ECR repositories of the images of jobs, one of which the stack can adopt.

Source: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeRepositories.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.named_lookup import private_image
from trainyard.components.tagging import tag_map
from trainyard.importing.draft import Draft
from trainyard.importing.live.answers import OWNER
from trainyard.importing.live.owner import owner_of
from trainyard.importing.reader import Reader

CALL = "DescribeRepositories"


def read_repositories(reader: AccountReader, images: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the repositories of images that are in this account and region, with their owners."""
    ecr, account = reader.client("ecr"), reader.account_id()
    found = filter(None, (private_image(each, reader.region) for each in images))
    names = [each["repository"] for each in found if each["registry"] == account]
    for name in dict.fromkeys(names):
        answer = reader.ask(
            "ecr:DescribeRepositories", ecr.describe_repositories, repositoryNames=[name]
        )
        for each in (answer or {}).get("repositories", []):
            told = reader.ask(
                "ecr:ListTagsForResource",
                ecr.list_tags_for_resource,
                resourceArn=each["repositoryArn"],
            )
            yield {**each, OWNER: owner_of(reader, tag_map((told or {}).get("tags")))}


def read_repository(source: Reader, architecture: Draft) -> None:
    """Read the first repository that no stack has as that of the stack, which adopts it."""
    for repository in source.at(CALL).items():
        name, owner = repository.at("repositoryName"), repository.at(OWNER).value
        if owner:
            why = f"it is part of {owner}; jobs name its images by their addresses"
        elif architecture.has("repository"):
            why = "a stack has one repository; jobs name images of others by their addresses"
        else:
            section = architecture.section("repository", repository)
            section.take("name", name)
            section.put("adopt", value=True)
            repository.implied("an adopted repository keeps it")
            source.report.notes.append(
                f"the repository {name.value} becomes part of the stack with the next `up`; if "
                "another tool has it, remove it there first, without deleting it"
            )
            continue
        repository.unsupported(why)
        source.report.notes.append(f"the repository {name.value} is not adopted: {why}")
