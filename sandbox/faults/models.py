"""The emulated services, with botocore's models of their operations."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session

SERVICES = {
    "aps": "amp",
    "autoscaling": "autoscaling",
    "batch": "batch",
    "cloudformation": "cloudformation",
    "cloudwatch": "cloudwatch",
    "dynamodb": "dynamodb",
    "ec2": "ec2",
    "ecr": "ecr",
    "eks": "eks",
    "events": "events",
    "elasticfilesystem": "efs",
    "fsx": "fsx",
    "iam": "iam",
    "kms": "kms",
    "lambda": "lambda",
    "logs": "logs",
    "ram": "ram",
    "resource-groups": "resource-groups",
    "s3": "s3",
    "scheduler": "scheduler",
    "servicequotas": "service-quotas",
    "sns": "sns",
    "ssm": "ssm",
    "sts": "sts",
}
"""botocore's name of each service, by name in a schedule (its prefix in IAM policies)."""


@cache
def model(service: str) -> Any:
    """Return botocore's model of a service of `SERVICES`."""
    return botocore.session.get_session().get_service_model(SERVICES[service])


def protocol(service: str) -> str:
    """Return the protocol of a service: ec2, query, json, rest-json or rest-xml."""
    return str(model(service).resolved_protocol)


def operations(service: str) -> list[str]:
    """Return the names of all operations of a service."""
    return list(model(service).operation_names)
