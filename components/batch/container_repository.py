"""An ECR repository for job images.

Sources:
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
    https://github.com/hashicorp/terraform-provider-aws, internal/service/ecr/lifecycle_policy.go:
    a different text replaces the policy (`ForceNew`)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.batch.plan import RepositoryPlan

KEPT_BY_ADOPTED = (
    "encryptionConfigurations",
    "imageScanningConfiguration",
    "imageTagMutability",
    "imageTagMutabilityExclusionFilters",
    "tags",
)
"""Settings of an adopted repository that the stack leaves as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRepositoryArgs:
    """Arguments of `ContainerRepository`."""

    plan: RepositoryPlan
    tags: Mapping[str, str]


class ContainerRepository(pulumi.ComponentResource):
    """A repository with scan on push, encryption and immutable tags.

    With `deletion_protection`, the engine refuses to delete or replace it (`protect`), and even a
    forced deletion keeps it in the account (`retain_on_delete`). Without it, deletion includes the
    images. The lifecycle policy is retained too, but not protected, so that it can be changed.

    An adopted repository is imported by the first update. It keeps its settings and its lifecycle
    policy: another one would expire images.

    Children: `<name>-repository` (`aws.ecr.Repository`), `<name>-lifecycle`
    (`aws.ecr.LifecyclePolicy`), if the repository is not adopted.
    """

    url: pulumi.Output[str]
    """Image name without a tag, for push and pull."""

    def __init__(
        self,
        name: str,
        args: ContainerRepositoryArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:ContainerRepository", name, {}, opts)
        plan = args.plan
        kept = plan.deletion_protection
        repository = aws.ecr.Repository(
            f"{name}-repository",
            name=plan.name,
            image_tag_mutability="IMMUTABLE",
            image_scanning_configuration=aws.ecr.RepositoryImageScanningConfigurationArgs(
                scan_on_push=True
            ),
            encryption_configurations=[
                aws.ecr.RepositoryEncryptionConfigurationArgs(encryption_type="AES256")
            ],
            force_delete=not kept,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=kept,
                retain_on_delete=kept,
                import_=plan.name if plan.adopt else None,
                ignore_changes=[*KEPT_BY_ADOPTED] if plan.adopt else None,
            ),
        )
        if not plan.adopt:
            aws.ecr.LifecyclePolicy(
                f"{name}-lifecycle",
                repository=repository.name,
                policy=json.dumps({"rules": lifecycle_rules(plan)}),
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=kept),
            )
        self.url = repository.repository_url
        self.register_outputs({"url": self.url})


def lifecycle_rules(plan: RepositoryPlan) -> list[dict[str, object]]:
    """Return the lifecycle rules, in the order in which ECR applies them."""
    expire = {"type": "expire"}
    return [
        {
            "rulePriority": 1,
            "description": f"images without a tag go after {plan.untagged_days} days",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": plan.untagged_days,
            },
            "action": expire,
        },
        {
            "rulePriority": 2,
            "description": f"the newest {plan.kept_images} images with a tag stay",
            "selection": {
                "tagStatus": "tagged",
                "tagPatternList": ["*"],
                "countType": "imageCountMoreThan",
                "countNumber": plan.kept_images,
            },
            "action": expire,
        },
    ]
