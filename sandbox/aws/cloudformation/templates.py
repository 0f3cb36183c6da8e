"""Templates: found by URL, and checked as CloudFormation does, where ministack does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from trainyard.sandbox.access import Endpoint

# Template checks of CloudFormation that ministack lacks.
#
# Source of the sections and attributes:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html and
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html


_SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Conditions",
        "Description",
        "Hooks",
        "Mappings",
        "Metadata",
        "Outputs",
        "Parameters",
        "Resources",
        "Rules",
        "Transform",
    }
)
_ATTRIBUTES = frozenset(
    {
        "Condition",
        "CreationPolicy",
        "DeletionPolicy",
        "DependsOn",
        "Metadata",
        "Properties",
        "Type",
        "UpdatePolicy",
        "UpdateReplacePolicy",
    }
)
_PROPERTIES: Mapping[str, frozenset[str]] = {
    "AWS::CloudFormation::Stack": frozenset(
        {"NotificationARNs", "Parameters", "Tags", "TemplateURL", "TimeoutInMinutes"}
    ),
}
"""All properties of the resource types in the program's stacks. Source:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stack.html
"""


def template_fault(template: Mapping[str, Any]) -> str | None:
    """Return why CloudFormation rejects a template, as it words it; None if it is valid."""
    unknown = sorted(template.keys() - _SECTIONS)
    if unknown:
        return f"Invalid template property or properties [{', '.join(unknown)}]"
    for name, resource in (template.get("Resources") or {}).items():
        if not isinstance(resource, Mapping):
            continue
        fault = _resource_fault(name, resource)
        if fault:
            return fault
    return None


def _resource_fault(name: str, resource: Mapping[str, Any]) -> str | None:
    for attribute in sorted(resource.keys() - _ATTRIBUTES):
        return f"Invalid template resource property '{attribute}'"
    kind, properties = resource.get("Type", ""), resource.get("Properties") or {}
    known = _PROPERTIES.get(kind, properties.keys())
    for unknown in sorted(properties.keys() - known):
        return f"Encountered unsupported property {unknown} in resource {name} ({kind})"
    if kind.startswith("Custom::") and "ServiceToken" not in properties:
        return f"Missing required property ServiceToken in resource {name} ({kind})"
    return None


# Templates by URL: from the sandbox's S3, and the official ones of ParallelCluster.
#
# Runs in the environment of ministack, which only supports path-style URLs of its own S3. The
# official template has a virtual-hosted URL, and other templates are in the sandbox's S3. Forms of
# the URLs:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html


OFFICIAL_BUCKET = re.compile(r"^[a-z0-9-]+-aws-parallelcluster$")
"""The bucket of ParallelCluster's releases in each region; source:
https://docs.aws.amazon.com/parallelcluster/latest/ug/tutorials_09_cfn-custom-resource-v3.html"""

OFFICIAL_KEY = re.compile(
    r"^parallelcluster/(?P<version>\d+\.\d+\.\d+)/templates/custom_resource/cluster\.yaml$"
)
"""The provider's template of a release; source: the same page."""

_VIRTUAL_HOST = re.compile(r"^(?P<bucket>.+?)\.s3[.-][a-z0-9.-]*amazonaws\.com(\.cn)?$")
_PATH_HOST = re.compile(r"^s3([.-][a-z0-9.-]*)?\.amazonaws\.com(\.cn)?$|^(127\.0\.0\.1|localhost)$")

ReadObject = Callable[[str, str], str]


class TemplateUrlError(ValueError):
    """A URL has no template; the message is CloudFormation's."""


def location(url: str) -> tuple[str, str]:
    """Return bucket and key of an S3 URL.

    Raises:
        TemplateUrlError: It is not an S3 URL.
    """
    parsed = urlparse(url)
    host, path = parsed.hostname or "", unquote(parsed.path.lstrip("/"))
    virtual = _VIRTUAL_HOST.match(host)
    if virtual:
        return virtual["bucket"], path
    bucket, _, key = path.partition("/")
    if not _PATH_HOST.match(host) or not key:
        raise TemplateUrlError("TemplateURL must be a supported URL.")
    return bucket, key


def template_at(url: str, read_object: ReadObject, stand_in: Path, version: str) -> str:
    """Return the template at a URL.

    Args:
        url: A URL of the account's S3, or of ParallelCluster's releases.
        read_object: Returns the object of a bucket and key; raises KeyError if it does not exist.
        stand_in: Template that replaces ParallelCluster's own.
        version: The ParallelCluster release that the replacement runs.

    Raises:
        TemplateUrlError: It does not exist.
    """
    bucket, key = location(url)
    if OFFICIAL_BUCKET.match(bucket):
        official = OFFICIAL_KEY.match(key)
        if official is None:
            raise TemplateUrlError("S3 error: The specified key does not exist.")
        if official["version"] != version:
            raise TemplateUrlError(
                f"The sandbox stands in for the provider of ParallelCluster {version} only, and "
                f"{url} is that of {official['version']}."
            )
        return stand_in.read_text(encoding="utf-8")
    try:
        return read_object(bucket, key)
    except KeyError as error:
        raise TemplateUrlError(f"S3 error: {error.args[0]}") from error


def sandbox_object(endpoint: Endpoint, region: str) -> ReadObject:
    """Return a function that reads objects of the sandbox's S3."""
    boto3, exceptions = import_module("boto3"), import_module("botocore.exceptions")
    client: Any = boto3.client(
        "s3",
        endpoint_url=endpoint.url,
        region_name=region,
        **endpoint.credentials,
        config=import_module("botocore.config").Config(s3={"addressing_style": "path"}),
    )

    def read(bucket: str, key: str) -> str:
        try:
            return client.get_object(Bucket=bucket, Key=key)["Body"].read().decode("utf-8")
        except exceptions.ClientError as error:
            raise KeyError(error.response["Error"]["Message"]) from error

    return read
