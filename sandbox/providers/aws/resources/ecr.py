"""Repositories of container images, their life-cycle rules and who may read them.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/ecr`:
`repository.go`, `lifecycle_policy.go`, `repository_policy.go`.
"""

from __future__ import annotations

import json
from typing import Any

from sandbox.providers.aws.account import Account, removed_tags, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    encryption = next(iter(inputs.get("encryptionConfigurations") or []), None)
    made = account.client("ecr").create_repository(
        repositoryName=inputs["name"],
        imageTagMutability=inputs["imageTagMutability"],
        imageScanningConfiguration=_scanning(inputs),
        tags=tag_list(inputs.get("tags")),
        **(
            {"encryptionConfiguration": {"encryptionType": "AES256", **encryption}}
            if encryption
            else {}
        ),
    )
    return made["repository"]["repositoryName"], {}


def _scanning(inputs: Values) -> dict[str, bool]:
    return {"scanOnPush": (inputs.get("imageScanningConfiguration") or {}).get("scanOnPush", False)}


def _read(account: Account, name: str) -> Values:
    ecr = account.client("ecr")
    (found,) = ecr.describe_repositories(repositoryNames=[name])["repositories"]
    return {
        "arn": found["repositoryArn"],
        "name": found["repositoryName"],
        "registryId": found["registryId"],
        "repositoryUrl": found["repositoryUri"],
        "imageTagMutability": found["imageTagMutability"],
        "imageScanningConfiguration": found["imageScanningConfiguration"],
        "encryptionConfigurations": [found["encryptionConfiguration"]],
        "tags": tag_map(ecr.list_tags_for_resource(resourceArn=found["repositoryArn"])["tags"])
        or None,
    }


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    ecr, arn = account.client("ecr"), account.arn("ecr", f"repository/{name}")
    ecr.put_image_tag_mutability(repositoryName=name, imageTagMutability=news["imageTagMutability"])
    ecr.put_image_scanning_configuration(
        repositoryName=name, imageScanningConfiguration=_scanning(news)
    )
    gone = removed_tags(olds, news)
    if gone:
        ecr.untag_resource(resourceArn=arn, tagKeys=gone)
    if news.get("tags"):
        ecr.tag_resource(resourceArn=arn, tags=tag_list(news["tags"]))


def _delete(account: Account, name: str, outputs: Values) -> None:
    account.client("ecr").delete_repository(
        repositoryName=name, force=outputs.get("forceDelete", False)
    )


REPOSITORY = ResourceType(
    token="aws:ecr/repository:Repository",
    inputs=frozenset(
        {
            "encryptionConfigurations",
            "forceDelete",
            "imageScanningConfiguration",
            "imageTagMutability",
            "name",
            "tags",
        }
    ),
    computed=frozenset({"arn", "registryId", "repositoryUrl"}),
    replace_on=frozenset({"encryptionConfigurations", "name"}),
    name_property="name",
    # https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html
    name_limit=256,
    defaults={"imageTagMutability": "MUTABLE"},
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)


def _put_lifecycle(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("ecr").put_lifecycle_policy(
        repositoryName=inputs["repository"], lifecyclePolicyText=_text(inputs["policy"])
    )
    return inputs["repository"], {}


def _read_lifecycle(account: Account, repository: str) -> Values:
    found = account.client("ecr").get_lifecycle_policy(repositoryName=repository)
    return {
        "repository": repository,
        "policy": found["lifecyclePolicyText"],
        "registryId": found["registryId"],
    }


def _delete_lifecycle(account: Account, repository: str, outputs: Values) -> None:
    account.client("ecr").delete_lifecycle_policy(repositoryName=repository)


LIFECYCLE_POLICY = ResourceType(
    token="aws:ecr/lifecyclePolicy:LifecyclePolicy",
    inputs=frozenset({"policy", "repository"}),
    required=frozenset({"policy", "repository"}),
    computed=frozenset({"registryId"}),
    # Both have the repository's name: the old one's end would be the new one's.
    delete_before_replace=True,
    create=_put_lifecycle,
    read=_read_lifecycle,
    delete=_delete_lifecycle,
)


def _put_policy(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("ecr").set_repository_policy(
        repositoryName=inputs["repository"], policyText=_text(inputs["policy"])
    )
    return inputs["repository"], {}


def _read_policy(account: Account, repository: str) -> Values:
    found = account.client("ecr").get_repository_policy(repositoryName=repository)
    return {
        "repository": repository,
        "policy": found["policyText"],
        "registryId": found["registryId"],
    }


def _update_policy(account: Account, repository: str, olds: Values, news: Values) -> None:
    _put_policy(account, news)


def _delete_policy(account: Account, repository: str, outputs: Values) -> None:
    account.client("ecr").delete_repository_policy(repositoryName=repository)


REPOSITORY_POLICY = ResourceType(
    token="aws:ecr/repositoryPolicy:RepositoryPolicy",
    inputs=frozenset({"policy", "repository"}),
    required=frozenset({"policy", "repository"}),
    computed=frozenset({"registryId"}),
    replace_on=frozenset({"repository"}),
    create=_put_policy,
    read=_read_policy,
    update=_update_policy,
    delete=_delete_policy,
)


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


RESOURCE_TYPES = (REPOSITORY, LIFECYCLE_POLICY, REPOSITORY_POLICY)
