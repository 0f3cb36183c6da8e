"""Installs the sandbox's replacements of moto's classes, all in this module."""

from __future__ import annotations

from functools import cache
from typing import Any

import moto.amp.urls
import moto.autoscaling.models
import moto.autoscaling.urls
import moto.batch.urls
import moto.core.responses
import moto.ec2.models.launch_templates
import moto.ec2.models.security_groups
import moto.ec2.urls
import moto.ec2.utils
import moto.efs.models
import moto.eks.urls
import moto.events.models
import moto.fsx.urls
import moto.iam.models
import moto.kms.models
import moto.logs.metric_filters
import moto.ram.urls
import moto.resourcegroups.urls
import moto.s3.models
import moto.s3.responses
import moto.scheduler.urls
import moto.servicequotas.urls
import moto.ssm.urls

from trainyard.sandbox.aws.autoscaling.groups import Group
from trainyard.sandbox.aws.autoscaling.responses import SandboxAutoScalingResponse
from trainyard.sandbox.aws.batch.responses import SandboxBatchResponse
from trainyard.sandbox.aws.ec2.instances import add_fields
from trainyard.sandbox.aws.ec2.launch_template_calls import TaggedLaunchTemplate
from trainyard.sandbox.aws.ec2.network_calls import Ec2SecurityGroup
from trainyard.sandbox.aws.ec2.responses import SandboxEc2Response, with_gone
from trainyard.sandbox.aws.eks.responses import SandboxEksResponse
from trainyard.sandbox.aws.errors import use_words_of_aws
from trainyard.sandbox.aws.fsx.responses import SandboxFsxResponse
from trainyard.sandbox.aws.iam import found, managed_policies, remove_role, secret_key_id
from trainyard.sandbox.aws.prometheus import SandboxPrometheusResponse
from trainyard.sandbox.aws.resource_groups import SandboxResourceGroupsResponse
from trainyard.sandbox.aws.resource_shares import SandboxRamResponse
from trainyard.sandbox.aws.s3.buckets import over_tls, with_tags
from trainyard.sandbox.aws.scheduler import SandboxSchedulerResponse, sending_to_topics
from trainyard.sandbox.aws.service_quotas import SandboxServiceQuotasResponse
from trainyard.sandbox.aws.ssm import SandboxSsmResponse

_TAGGABLE = {"placement-group": "pg", "capacity-reservation": "cr"}
"""Resource types that CreateTags accepts here and not in moto, with their id prefix."""

_INSTANCE_FILTERS = {
    "capacity-reservation-id": "capacity_reservation_id",
    "placement-group-name": "placement.group_name",
}
"""Filters of DescribeInstances that moto lacks, with the field of the instance."""

_RESOURCE_GROUPS_CALLS = (
    "delete-group",
    "get-group",
    "get-group-configuration",
    "get-group-query",
    "group-resources",
    "ungroup-resources",
    "list-group-resources",
)
"""Paths of Resource Groups that are handled here."""

_RAM_CALLS = (
    "acceptresourceshareinvitation",
    "disassociateresourceshare",
    "getresourceshareinvitations",
    "getresourceshares",
    "listresources",
)
"""Paths of Resource Access Manager that are handled here."""

_SCRAPER_CALLS = ("{0}/scrapers$", "{0}/scrapers/(?P<scraper_id>[^/]+)$")
"""Paths of Prometheus that moto does not have."""


@cache
def install() -> None:
    """Extend moto, once per process, before the first request."""
    moto.ec2.urls.url_paths = {"{0}/": SandboxEc2Response.dispatch}
    moto.autoscaling.urls.url_paths = {"{0}/$": SandboxAutoScalingResponse.dispatch}
    moto.batch.urls.url_paths = {"{0}/v1/(?P<path>.+)$": SandboxBatchResponse.dispatch}
    moto.eks.urls.url_paths = {"{0}/(?P<path>.+)$": SandboxEksResponse.dispatch}
    moto.fsx.urls.url_paths = {"{0}/$": SandboxFsxResponse.dispatch}
    for path in moto.scheduler.urls.url_paths:
        moto.scheduler.urls.url_paths[path] = SandboxSchedulerResponse.dispatch
    prometheus = moto.amp.urls.url_paths
    for path in (*prometheus, *_SCRAPER_CALLS):
        prometheus[path] = SandboxPrometheusResponse.dispatch
    rule: Any = moto.events.models.Rule
    rule.send_to_targets = sending_to_topics(rule.send_to_targets)
    moto.servicequotas.urls.url_paths = {"{0}/$": SandboxServiceQuotasResponse.dispatch}
    moto.ssm.urls.url_paths = {"{0}/$": SandboxSsmResponse.dispatch}
    groups = moto.resourcegroups.urls.url_paths
    for path in _RESOURCE_GROUPS_CALLS:
        groups[f"{{0}}/{path}$"] = SandboxResourceGroupsResponse.dispatch
    for path in _RAM_CALLS:
        moto.ram.urls.url_paths[f"{{0}}/{path}$"] = SandboxRamResponse.dispatch
    add_fields()
    moto.autoscaling.models.FakeAutoScalingGroup = Group  # type: ignore[misc] - the replacement
    buckets: Any = moto.s3.responses.S3Response
    buckets._bucket_response_put = with_tags(buckets._bucket_response_put)  # noqa: SLF001
    bucket: Any = moto.s3.models.FakeBucket
    bucket.get_permission = over_tls(bucket.get_permission)
    iam_backend: Any = moto.iam.models.IAMBackend
    iam_backend._init_aws_policies = managed_policies  # noqa: SLF001 - the replacement
    iam_backend.remove_role_from_instance_profile = remove_role
    iam_backend.get_role = found(iam_backend.get_role, "The role with name {} cannot be found.")
    keys_of_iam: Any = moto.iam.models
    # moto's sequence of random ids is the same in every sandbox; an access key is a secret.
    keys_of_iam.generate_access_key_id_from_account_id = secret_key_id
    iam_backend.get_policy = found(iam_backend.get_policy, "Policy {} was not found.")
    use_words_of_aws()
    ec2_backend: Any = moto.ec2.models.EC2Backend
    ec2_backend.iter_tagged_resources = with_gone(ec2_backend.iter_tagged_resources)
    templates: Any = moto.ec2.models.launch_templates
    templates.LaunchTemplate = TaggedLaunchTemplate
    groups_of_ec2: Any = moto.ec2.models.security_groups
    groups_of_ec2.SecurityGroupRule.description = property(_rule_description)
    groups_of_ec2.SecurityGroup = Ec2SecurityGroup
    systems: Any = moto.efs.models.FileSystem
    systems.info_json = _as_efs(systems.info_json)
    filters: Any = moto.logs.metric_filters.MetricFilters
    filters.add_filter = _replacing(filters.add_filter)
    for resource_type, prefix in _TAGGABLE.items():
        moto.ec2.utils.EC2_RESOURCE_TO_PREFIX[resource_type] = prefix
        moto.ec2.utils.EC2_PREFIX_TO_RESOURCE[prefix] = resource_type
    moto.ec2.utils.filter_dict_attribute_mapping.update(_INSTANCE_FILTERS)
    responses: Any = moto.core.responses
    # moto lists the methods of a class for every request: a quarter of the emulator's time.
    responses.method_names_from_class = cache(responses.method_names_from_class)
    # moto makes an RSA key for each KMS key, also for a symmetric one, which never uses it: half of
    # the time to fill an account. Keys of one spec share it, so they also sign alike.
    keys: Any = moto.kms.models
    keys.generate_private_key = cache(keys.generate_private_key)


def _replacing(add_filter: Any) -> Any:
    """Return PutMetricFilter for a filter that may exist, to which moto adds another one.

    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutMetricFilter.html
    """

    def put(filters: Any, filter_name: str, pattern: str, log_group_name: str, to: Any) -> None:
        filters.delete_filter(filter_name, log_group_name)
        add_filter(filters, filter_name, pattern, log_group_name, to)

    return put


def _as_efs(info_json: Any) -> Any:
    """Return the description of a file system with the fields of real accounts, which moto lacks.

    They are in all recorded answers (`tests/witness/tables/efs.DescribeFileSystems.json`).
    """

    def info(system: Any) -> dict[str, Any]:
        found = info_json(system)
        if found["ThroughputMode"] != "provisioned":
            del found["ProvisionedThroughputInMibps"]
        key = ":".join([*system.file_system_arn.split(":")[:5], "key/aws-elasticfilesystem"])
        if system.encrypted and not system.kms_key_id:
            found["KmsKeyId"] = key.replace(":elasticfilesystem:", ":kms:")
        found["SizeInBytes"]["ValueInArchive"] = 0
        return {**found, "FileSystemProtection": {"ReplicationOverwriteProtection": "ENABLED"}}

    return info


def _rule_description(rule: Any) -> str | None:
    """Return a security group rule's description, also if the peer is a group."""
    return rule.ip_range.get("Description") or rule.source_group.get("Description")
