"""Errors of each service for a fault: code, HTTP status and message.

Sources:
    EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    Query, JSON: the page "Common Errors" of each API reference, such as
        https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html and
        https://docs.aws.amazon.com/fsx/latest/APIReference/CommonErrors.html.
    CloudWatch: its protocol keeps the codes of the query protocol,
        https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#awsquerycompatible-trait;
        seen: https://github.com/aws/aws-sdk-js/issues/1822 (`Throttling`),
        https://github.com/amazon-archives/k8s-cloudwatch-adapter/issues/32 (`ExpiredToken`)
    Other errors: those that botocore's model of the service declares for the operation; a test
        compares the tables with the models.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from trainyard.sandbox.faults.kind import Refusal
from trainyard.sandbox.faults.models import model, protocol

_RATE = "Rate exceeded"
_EXPIRED = "The security token included in the request is expired"
_INTERNAL = "The request processing has failed because of an unknown error, exception or failure."

_THROTTLED = {
    "ec2": Refusal("RequestLimitExceeded", 503, "Request limit exceeded."),
    "s3": Refusal("SlowDown", 503, "Please reduce your request rate."),
    "batch": Refusal("TooManyRequestsException", 429, "Too Many Requests"),
    "cloudwatch": Refusal("Throttling", 400, _RATE),
    "lambda": Refusal("TooManyRequestsException", 429, _RATE),
    "resource-groups": Refusal("TooManyRequestsException", 429, _RATE),
    "servicequotas": Refusal("TooManyRequestsException", 400, _RATE),
}
_THROTTLED_BY_PROTOCOL = {
    "query": Refusal("Throttling", 400, _RATE),
    "json": Refusal("ThrottlingException", 400, _RATE),
    "rest-json": Refusal("ThrottlingException", 429, _RATE),
}
_INTERNAL_ERROR = {
    "aps": Refusal("InternalServerException", 500, "Internal server error"),
    "ec2": Refusal("InternalError", 500, "An internal error has occurred"),
    "s3": Refusal("InternalError", 500, "We encountered an internal error. Please try again."),
    "batch": Refusal("ServerException", 500, "Internal server error"),
    "cloudwatch": Refusal("InternalServiceError", 500, _INTERNAL),
    "ecr": Refusal("ServerException", 500, "Internal server error"),
    "eks": Refusal("ServerException", 500, "Internal server error"),
    "elasticfilesystem": Refusal("InternalServerError", 500, "Internal server error"),
    "events": Refusal("InternalException", 500, _INTERNAL),
    "fsx": Refusal("InternalServerError", 500, "A generic error occurred on the server."),
    "iam": Refusal("ServiceFailure", 500, _INTERNAL),
    "kms": Refusal("KMSInternalException", 500, _INTERNAL),
    "lambda": Refusal("ServiceException", 500, "Internal server error"),
    "ram": Refusal("ServerInternalException", 500, "Internal server error"),
    "resource-groups": Refusal("InternalServerErrorException", 500, "Internal server error"),
    "scheduler": Refusal("InternalServerException", 500, _INTERNAL),
    "servicequotas": Refusal("ServiceException", 500, "Internal server error"),
    "sns": Refusal("InternalError", 500, _INTERNAL),
    "ssm": Refusal("InternalServerError", 500, "An error occurred on the server side."),
}
_EXPIRED_TOKEN = {"cloudwatch": Refusal("ExpiredToken", 403, _EXPIRED)}
_EXPIRED_BY_PROTOCOL = {
    "ec2": Refusal("RequestExpired", 400, "Request has expired."),
    "query": Refusal("ExpiredToken", 403, _EXPIRED),
    "json": Refusal("ExpiredTokenException", 400, _EXPIRED),
    "rest-json": Refusal("ExpiredTokenException", 403, _EXPIRED),
    "rest-xml": Refusal("ExpiredToken", 400, "The provided token has expired."),
}

_EC2_QUOTAS = {
    "AllocateAddress": "AddressLimitExceeded",
    "AuthorizeSecurityGroupEgress": "RulesPerSecurityGroupLimitExceeded",
    "AuthorizeSecurityGroupIngress": "RulesPerSecurityGroupLimitExceeded",
    "CreateCapacityReservation": "InstanceLimitExceeded",
    "CreateInternetGateway": "InternetGatewayLimitExceeded",
    "CreateNatGateway": "NatGatewayLimitExceeded",
    "CreateRoute": "RouteLimitExceeded",
    "CreateRouteTable": "RouteTableLimitExceeded",
    "CreateSecurityGroup": "SecurityGroupLimitExceeded",
    "CreateSubnet": "SubnetLimitExceeded",
    "CreateVolume": "VolumeLimitExceeded",
    "CreateVpc": "VpcLimitExceeded",
    "CreateVpcEndpoint": "VpcEndpointLimitExceeded",
    "RunInstances": "VcpuLimitExceeded",
    "StartInstances": "VcpuLimitExceeded",
}
_EC2_QUOTA_MESSAGES = {
    "AddressLimitExceeded": "The maximum number of addresses has been reached.",
    "InternetGatewayLimitExceeded": ("The maximum number of internet gateways has been reached."),
    "NatGatewayLimitExceeded": (
        "Performing this operation would exceed the limit of 5 NAT gateways"
    ),
    "VcpuLimitExceeded": (
        "You have requested more vCPU capacity than your current vCPU limit allows for the "
        "instance bucket that the specified instance type belongs to. Please visit "
        "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
    ),
    "VpcLimitExceeded": "The maximum number of VPCs has been reached.",
}
_S3_QUOTAS = {
    "CreateBucket": Refusal(
        "TooManyBuckets", 400, "You have attempted to create more buckets than allowed"
    )
}
_QUOTA_NAMES = ("LimitExceeded", "QuotaExceeded")
_CAPACITY = Refusal(
    "InsufficientInstanceCapacity",
    500,
    "We currently do not have sufficient capacity of the requested instance type in the "
    "Availability Zone you requested. Our system will be working on provisioning additional "
    "capacity.",
)
_INSUFFICIENT_CAPACITY = {
    ("ec2", "CreateCapacityReservation"): _CAPACITY,
    ("ec2", "RunInstances"): _CAPACITY,
    ("ec2", "StartInstances"): _CAPACITY,
    ("eks", "CreateCluster"): Refusal(
        "UnsupportedAvailabilityZoneException",
        400,
        "Cannot create cluster because one of the targeted availability zones does not currently "
        "have sufficient capacity to support the cluster. Retry and choose from other zones.",
    ),
}
_PROFILE = (
    "Value (the new one) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance "
    "Profile name"
)
_ROLE_NOT_USABLE_YET = {
    ("ec2", "RunInstances"): Refusal("InvalidParameterValue", 400, _PROFILE),
    ("autoscaling", "CreateAutoScalingGroup"): Refusal(
        "ValidationError",
        400,
        f"You must use a valid fully-formed launch template. {_PROFILE}",
    ),
    ("eks", "CreateCluster"): Refusal(
        "InvalidParameterException",
        400,
        "The role could not be assumed because it does not exist or the trusted entity is not "
        "correct",
    ),
}


def throttled(service: str, operation: str) -> Refusal | None:
    """Return the throttling error of a service."""
    return _THROTTLED.get(service) or _THROTTLED_BY_PROTOCOL.get(protocol(service))


def internal_error(service: str, operation: str) -> Refusal | None:
    """Return the internal error of a service."""
    return _INTERNAL_ERROR.get(service) or Refusal("InternalFailure", 500, _INTERNAL)


def credentials_expired(service: str, operation: str) -> Refusal | None:
    """Return the error for a signature of an expired session."""
    return _EXPIRED_TOKEN.get(service) or _EXPIRED_BY_PROTOCOL.get(protocol(service))


def insufficient_capacity(service: str, operation: str) -> Refusal | None:
    """Return the insufficient-capacity error of an operation; None for most operations."""
    return _INSUFFICIENT_CAPACITY.get((service, operation))


def role_not_usable_yet(service: str, operation: str) -> Refusal | None:
    """Return the error of a service to which a new role has not propagated yet."""
    return _ROLE_NOT_USABLE_YET.get((service, operation))


def quota_exceeded(service: str, operation: str) -> Refusal | None:
    """Return the quota error of an operation, as the service's model declares it."""
    if service == "ec2":
        code = _EC2_QUOTAS.get(operation)
        message = _EC2_QUOTA_MESSAGES.get(code or "", "The limit of the account has been reached.")
        return Refusal(code, 400, message) if code else None
    return _S3_QUOTAS.get(operation) if service == "s3" else _declared_quota(service, operation)


def _said(service: str, error: Any) -> str:
    """Return the message of a quota error; empty if the SDKs have no field for one."""
    if service == "logs":
        return "Resource limit exceeded."
    has_text = any(name.lower() == "message" for name in error.members)
    return "A limit has been exceeded." if has_text else ""


@cache
def _declared_quota(service: str, operation: str) -> Refusal | None:
    described = model(service)
    if operation not in described.operation_names:
        return None
    for shape in described.operation_model(operation).error_shapes:
        if any(name in shape.name for name in _QUOTA_NAMES):
            error = shape.metadata.get("error") or {}
            code = error.get("code", shape.name)
            return Refusal(code, error.get("httpStatusCode", 400), _said(service, shape))
    return None
