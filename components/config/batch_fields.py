"""Field types of the AWS Batch architecture."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from trainyard.components.catalog.batch import IMAGE_PATH, REPOSITORY_NAME
from trainyard.components.catalog.secret_arns import SECRET_ARN
from trainyard.components.config.base import Form

# https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html, `jobQueueName`:
# 128 characters, including Pulumi's random suffix and the name of the stack.
JobName = Annotated[
    str,
    Form(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}",
        expected=(
            "a name of at most 48 letters, digits, hyphens and underscores that begins with a "
            "letter or a digit"
        ),
        example="nccl-tests",
    ),
]
RepositoryName = Annotated[
    str,
    Form(
        pattern=REPOSITORY_NAME,
        expected=(
            "the name of an ECR repository: 2 to 256 small letters and digits, with single `.`, "
            "`_`, `/` and with hyphens between them"
        ),
        example="team/nccl-tests",
    ),
]
OWN_IMAGES = ("nccl-tests", "nccom-tests", "repository")
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_REFERENCE = (
    # The registry, the path, the tag and the digest. An image without a registry is one of Docker
    # Hub: https://github.com/distribution/reference/blob/main/reference.go
    rf"(?:{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/)?{IMAGE_PATH}(?:/{IMAGE_PATH})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)


def _no_misspelled_word(image: str) -> str:
    near = difflib.get_close_matches(image, OWN_IMAGES, n=1, cutoff=0.8)
    if near and image not in OWN_IMAGES and not set(image) & set("/:@"):
        raise PydanticCustomError(
            "form",
            "is not {expected}",
            {"expected": f"`{near[0]}`, nor an image with a tag", "example": near[0]},
        )
    return image


# https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html, `image`: at
# most 255 characters.
ContainerImage = Annotated[
    str,
    Form(
        pattern=rf"(?=.{{1,255}}$){_REFERENCE}",
        expected=(
            "`nccl-tests`, `nccom-tests`, `repository`, or a container image: its registry if it "
            "is not one of Docker Hub, its path in small letters, and a tag or a digest"
        ),
        example="public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.42.0-ofiv1.16.0-ncclv2.27.5-1-testsv2.16.4",
        names="container-image",
    ),
    AfterValidator(_no_misspelled_word),
]
# https://docs.aws.amazon.com/batch/latest/APIReference/API_KeyValuePair.html: `AWS_BATCH` is a
# reserved prefix.
EnvironmentVariable = Annotated[
    str,
    Form(
        pattern=r"(?!AWS_BATCH)[A-Za-z_][A-Za-z0-9_]*",
        expected="the name of an environment variable that does not begin with `AWS_BATCH`",
        example="NCCL_DEBUG",
    ),
]
# https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html, `valueFrom`. The name of a
# parameter alone is possible there, but a role can only be allowed to read an ARN.
SecretReference = Annotated[
    str,
    Form(
        pattern=SECRET_ARN,
        expected=(
            "the ARN of a secret of Secrets Manager, with `:JSON_KEY:VERSION_STAGE:VERSION_ID` for "
            "a part of it, or of a parameter of Parameter Store"
        ),
        example="arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf",
        where="the ARN that `aws secretsmanager describe-secret --secret-id NAME` prints",
    ),
]
