"""Account checks of the container images in private ECR repositories.

A missing image is only a warning: AWS Batch accepts the job definition, and the image can be pushed
before the first job. https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_cannot_pull_image.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import ContainerImageFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named


def container_image_warnings(
    use: Named, found: ContainerImageFacts | None, context: NamedContext
) -> Iterator[str]:
    """Yield that jobs would fail to pull the image."""
    if found is None:
        yield (
            f"{use.key}: ECR has no image {use.name}; jobs fail with CannotPullContainerError "
            "until it is pushed"
        )
