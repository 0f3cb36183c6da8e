"""A Slurm cluster: the CloudFormation stack in which ParallelCluster creates it.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html and
https://www.pulumi.com/registry/packages/aws/api-docs/cloudformation/stack/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.parallelcluster.cluster_template import cluster_template, template_body
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import (
    Reference,
    ReferenceKind,
    references,
    resolve,
)
from trainyard.components.parallelcluster.rendering import render_cluster, to_yaml

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")
"""The nested stack of the provider creates roles, including named ones, and uses transforms.
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html"""

CREATION_ONLY = ("timeoutInMinutes", "onFailure")
"""Properties that have no effect after creation. A change would replace the stack and the
cluster."""

_SPARE_MINUTES = 30
"""Minutes that the engine waits beyond CloudFormation's timeout: for the rollback, which contains
the reasons, and for the last response."""
_OPERATION_MINUTES = 120
"""Minutes for an update or a deletion, which have no CloudFormation timeout: twice the one-hour
limit of custom resources, because a failed update is followed by a rollback.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmClusterArgs:
    """Arguments of `SlurmCluster`."""

    plan: ParallelClusterPlan
    subnet_id: Callable[[str], pulumi.Input[str]]
    """Maps a subnet reference to its id."""
    reservation_ids: Mapping[str, pulumi.Input[str]]
    """Ids of new reservations, by name."""
    reservation_group_arns: Mapping[str, pulumi.Input[str]]
    """ARNs of new reservation groups, by the name of the reservation."""
    open_zfs_volume_ids: Mapping[str, pulumi.Input[str]]
    """Root volume ids of new file systems, by name."""
    script_bucket: pulumi.Input[str] | None = None
    """Name of the bucket with the built-in scripts, if nodes run any."""
    script_addresses: Mapping[str, pulumi.Input[str]] = field(
        default_factory=dict[str, pulumi.Input[str]]
    )
    """Addresses of the built-in scripts, by key."""
    launch_after: Sequence[pulumi.Resource]
    """Resources that must exist before the first node and until after the last one: routes,
    endpoints and resource shares."""


class SlurmCluster(pulumi.ComponentResource):
    """The cluster with its head node and queues.

    Its parts are not Pulumi resources: ParallelCluster creates security groups, launch templates,
    roles and new file systems in a second CloudFormation stack, which has the name of the cluster.

    A stack whose creation fails is deleted after its error is reported: a rolled-back stack cannot
    be updated, so the next `up` would fail.

    Children: `<name>-key` (`aws.ec2.KeyPair`, if the stack imports a public key) and
    `<name>-deployment` (`aws.cloudformation.Stack`).
    """

    configuration: pulumi.Output[str]
    """The cluster configuration as YAML, with resolved ids."""
    outputs: pulumi.Output[Mapping[str, str]]
    """Outputs of the template, by the names in `cluster_template.py`."""

    def __init__(
        self, name: str, args: SlurmClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:parallelcluster:SlurmCluster", name, {}, opts)
        plan = args.plan
        self._args = args
        self._key_name = self._import_key(name)
        document = self._resolved(render_cluster(plan))
        stack = self._make_stack(
            f"{name}-deployment",
            document.apply(lambda made: template_body(cluster_template(plan, made))),
        )
        self.configuration = document.apply(to_yaml)
        self.outputs = stack.outputs
        self.register_outputs({"configuration": self.configuration, "outputs": self.outputs})

    def _import_key(self, name: str) -> pulumi.Output[str] | None:
        public_key = self._args.plan.head_node.public_key
        if public_key is None:
            return None
        return aws.ec2.KeyPair(
            f"{name}-key",
            public_key=public_key,
            tags={"Name": name, **self._args.plan.tags},
            opts=pulumi.ResourceOptions(parent=self),
        ).key_name

    def _make_stack(self, name: str, body: pulumi.Input[str]) -> aws.cloudformation.Stack:
        deployment = self._args.plan.deployment
        return aws.cloudformation.Stack(
            name,
            name=deployment.stack_name,
            template_body=body,
            capabilities=list(CAPABILITIES),
            timeout_in_minutes=deployment.timeout_minutes,
            on_failure="DELETE",
            tags=dict(self._args.plan.tags),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=self._args.launch_after,
                ignore_changes=list(CREATION_ONLY),
                custom_timeouts=pulumi.CustomTimeouts(
                    create=f"{deployment.timeout_minutes + _SPARE_MINUTES}m",
                    update=f"{_OPERATION_MINUTES}m",
                    delete=f"{_OPERATION_MINUTES}m",
                ),
            ),
        )

    def _resolved(self, document: dict[str, Any]) -> pulumi.Output[dict[str, Any]]:
        wanted = references(document)
        values = pulumi.Output.all(*(self._value_of(reference) for reference in wanted))
        return values.apply(
            lambda known: resolve(document, dict(zip(wanted, known, strict=True)).__getitem__)
        )

    def _value_of(self, reference: Reference) -> pulumi.Input[str]:
        args = self._args
        values: dict[ReferenceKind, Callable[[str], Any]] = {
            "subnet": args.subnet_id,
            "key-pair": lambda _: self._key_name,
            "reservation": args.reservation_ids.__getitem__,
            "reservation-group": args.reservation_group_arns.__getitem__,
            "open-zfs-volume": args.open_zfs_volume_ids.__getitem__,
            "node-script": args.script_addresses.__getitem__,
            "script-bucket": lambda _: args.script_bucket,
        }
        return values[reference.kind](reference.name)
