"""Registered Batch and network stacks of the repository, with shortcuts to their parts."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from components.architectures.prepare import prepare
from components.batch.plan import BatchPlan
from components.config.load import load_stack_config
from components.network_stack.plan import NetworkStackPlan
from tests.support.cloud import Cloud, Registered
from tests.support.parallelcluster_configs import raw_config
from tests.support.stacks import NOW, account_facts, stack_config


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStack:
    """One stack with one compute environment."""

    plan: BatchPlan
    cloud: Cloud

    def inputs(self, type_: str) -> dict[str, Any]:
        """Return the inputs of the one resource of a type."""
        return only(self.cloud, type_).inputs

    @property
    def environment(self) -> dict[str, Any]:
        """Inputs of the compute environment."""
        return self.inputs("aws:batch/computeEnvironment:ComputeEnvironment")

    @property
    def resources(self) -> dict[str, Any]:
        """Its section `computeResources`."""
        return self.environment["computeResources"]

    @property
    def queue(self) -> dict[str, Any]:
        """Inputs of the job queue."""
        return self.inputs("aws:batch/jobQueue:JobQueue")

    @property
    def template(self) -> dict[str, Any]:
        """Inputs of the launch template."""
        return self.inputs("aws:ec2/launchTemplate:LaunchTemplate")

    @property
    def user_data(self) -> str:
        """User data of a node."""
        return base64.b64decode(self.template["userData"]).decode()

    @property
    def repository(self) -> Registered:
        """The repository of images."""
        return only(self.cloud, "aws:ecr/repository:Repository")

    @property
    def efa_cards(self) -> list[int]:
        """Cards of the EFA interfaces."""
        return [
            each["networkCardIndex"]
            for each in self.template["networkInterfaces"]
            if each["interfaceType"] != "interface"
        ]

    def definition(self, name: str) -> dict[str, Any]:
        """Return the inputs of a job definition, its container or its nodes as objects."""
        made = self.cloud.one(
            f"{self.plan.name}-{name}-definition", "aws:batch/jobDefinition:JobDefinition"
        ).inputs
        documents = {"containerProperties", "nodeProperties"} & made.keys()
        return made | {key: json.loads(made[key]) for key in documents}

    def container(self, name: str) -> dict[str, Any]:
        """Return the container of a job, on one node or on each."""
        made = self.definition(name)
        if "containerProperties" in made:
            return made["containerProperties"]
        (nodes,) = made["nodeProperties"]["nodeRangeProperties"]
        return nodes["container"]

    def policies(self, role: str) -> list[str]:
        """Return the names of the managed policies of a role, sorted."""
        attached = self.cloud.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        found = (each.inputs for each in attached)
        return sorted(
            each["policyArn"].rpartition("/")[2] for each in found if each["role"] == role
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkStack:
    """A registered network stack."""

    plan: NetworkStackPlan
    cloud: Cloud

    def every(self, type_: str) -> list[Registered]:
        """Return the resources of a type of EC2, such as `subnet:Subnet`, by name."""
        return self.cloud.of_type(f"aws:ec2/{type_}")

    def subnets(self, *, public: bool) -> list[dict[str, Any]]:
        """Return the public or the private subnets, in the order of the zones."""
        kind = "public" if public else "private"
        found = [s.inputs for s in self.every("subnet:Subnet") if f"-network-{kind}-" in s.name]
        zones = self.plan.network.availability_zones
        return sorted(found, key=lambda s: zones.index(s["availabilityZoneId"]))

    def rules(self, group: str, direction: str) -> list[dict[str, Any]]:
        """Return the rules (`Ingress` or `Egress`) of the group `efa` or `lustre`."""
        kind = f"SecurityGroup{direction}Rule"
        group_id = f"{self.plan.name}-{group}-group-id"
        made = self.cloud.of_type(f"aws:vpc/{kind[0].lower()}{kind[1:]}:{kind}")
        return [each.inputs for each in made if each.inputs["securityGroupId"] == group_id]


def only(cloud: Cloud, type_: str) -> Registered:
    """Return the one resource of a type."""
    (made,) = cloud.of_type(type_)
    return made


def open_ports(rules: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Return protocol, first and last port and peer of each rule; the group itself is `self`."""
    return {
        (
            rule["ipProtocol"],
            rule.get("fromPort"),
            rule.get("toPort"),
            rule.get("cidrIpv4", "self"),
        )
        for rule in rules
    }


def planned_stack(stack: str, **changes: Any) -> Any:
    """Return the plan of a stack file with some keys changed, as in `raw_config`.

    Raises: ConfigError: the stack file or the account does not allow it.
    """
    config, stack_file = stack_config(stack), f"Pulumi.{stack}.yaml"
    raw = raw_config(config["trainyard:cluster"], **changes)
    return prepare(
        load_stack_config(raw, stack_file=stack_file),
        account_facts(),
        stack_file=stack_file,
        region=config["aws:region"],
        now=NOW,
    ).plan
