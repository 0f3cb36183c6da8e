"""Field types of the AWS Batch architecture."""

from __future__ import annotations

from typing import Annotated

from components.config.base import Form

# https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html, `jobQueueName`:
# 128 characters, including Pulumi's random suffix and the name of the stack; ECR allows lowercase
# letters only: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html
JobName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9-]{0,47}",
        expected=(
            "a name of at most 48 lowercase letters, digits and hyphens that begins with a letter"
        ),
        example="nccl-tests",
    ),
]
# https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html, `image`
ContainerImage = Annotated[
    str,
    Form(
        pattern=(
            r"nccl-tests|nccom-tests|repository"
            r"|[a-z0-9][a-zA-Z0-9._:-]*/[a-zA-Z0-9._/-]+"
            r"(?::[a-zA-Z0-9_.-]+(?:@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})"
        ),
        expected=(
            "`nccl-tests`, `nccom-tests`, `repository`, or a container image with its registry, "
            "and a tag or a digest"
        ),
        example="public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.42.0-ofiv1.16.0-ncclv2.27.5-1-testsv2.16.4",
        names="container-image",
    ),
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
