"""Batch in the sandbox's account for tests: environments, queues, definitions, and its clock."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import Any

from moto.ec2.models import ec2_backends

from tests.support.sandbox_aws import ACCOUNT, BLOCK, PRIVATE_B, Account, p5_block, without
from trainyard.sandbox.aws.batch.scheduler import tick
from trainyard.sandbox.aws.batch.store import batch_stores
from trainyard.sandbox.aws.clock import CLOCK

REGION = "us-west-2"
IMAGE = "public.ecr.aws/hpc-cloud/nccl-tests:1"


def devices(count: int) -> dict[str, Any]:
    """Return the Linux parameters of a container with some EFA devices."""
    paths = [f"/dev/infiniband/uverbs{number}" for number in range(count)]
    return {"devices": [{"hostPath": path, "permissions": ["READ"]} for path in paths]}


def container(**settings: Any) -> dict[str, Any]:
    """Return a container that takes a whole p5.48xlarge."""
    needs = {"VCPU": "192", "MEMORY": "2000000", "GPU": "8"}
    return {
        "image": IMAGE,
        "resourceRequirements": [{"type": key, "value": text} for key, text in needs.items()],
        "linuxParameters": devices(32),
        **settings,
    }


def small(**settings: Any) -> dict[str, Any]:
    """Return a container that takes a quarter of a c5.2xlarge."""
    return {"image": IMAGE, "vcpus": 2, "memory": 1024, **settings}


class Batch:
    """Batch as a client sees it, with a role and a security group."""

    def __init__(self, account: Account) -> None:
        self.account = account
        account.role("node")
        self.group = account.group("nodes")

    @cached_property
    def client(self) -> Any:
        return self.account.client("batch")

    def environment(self, name: str = "env", **resources: Any) -> str:
        """Create an environment of c5.2xlarge; return its ARN."""
        made = self.client.create_compute_environment(
            computeEnvironmentName=name,
            type="MANAGED",
            computeResources=self.resources(**resources),
        )
        return made["computeEnvironmentArn"]

    def resources(self, **resources: Any) -> dict[str, Any]:
        """Return the compute resources of an environment."""
        return {
            "type": "EC2",
            "allocationStrategy": "BEST_FIT_PROGRESSIVE",
            "minvCpus": 0,
            "maxvCpus": 16,
            "instanceTypes": ["c5.2xlarge"],
            "subnets": [PRIVATE_B],
            "securityGroupIds": [self.group],
            "instanceRole": "node",
            **resources,
        }

    def block(
        self, name: str = "env", *, nodes: int = 2, block: str = BLOCK, **resources: Any
    ) -> str:
        """Create an environment of p5.48xlarge in a Capacity Block of two; return its ARN."""
        template = self.account.template(name, **without(p5_block(self.group, block), "ImageId"))
        return self.environment(
            name,
            **{
                "instanceTypes": ["p5.48xlarge"],
                "maxvCpus": 192 * nodes,
                "securityGroupIds": [],
                "launchTemplate": {"launchTemplateId": template, "version": "1"},
                **resources,
            },
        )

    def queue(self, *environments: str, name: str = "queue") -> str:
        """Create a queue; return its ARN."""
        order = [
            {"order": number, "computeEnvironment": each}
            for number, each in enumerate(environments, start=1)
        ]
        made = self.client.create_job_queue(
            jobQueueName=name, priority=1, computeEnvironmentOrder=order
        )
        return made["jobQueueArn"]

    def multinode(self, nodes: int = 2, name: str = "mnp", **properties: Any) -> dict[str, Any]:
        """Register a multi-node parallel definition over all of its nodes."""
        ranges = [{"targetNodes": "0:", "container": container()}]
        return self.client.register_job_definition(
            jobDefinitionName=name,
            type="multinode",
            nodeProperties={
                "numNodes": nodes,
                "mainNode": 0,
                "nodeRangeProperties": ranges,
                **properties,
            },
        )

    def single(self, name: str = "one", **settings: Any) -> dict[str, Any]:
        """Register a definition of one small container."""
        return self.client.register_job_definition(
            jobDefinitionName=name, type="container", **{"containerProperties": small(), **settings}
        )

    def submit(self, definition: str, **settings: Any) -> str:
        """Submit a job; return its id."""
        answer = self.client.submit_job(
            jobName="job", jobQueue="queue", jobDefinition=definition, **settings
        )
        return answer["jobId"]

    def job(self, identifier: str) -> dict[str, Any]:
        """Return a job as it is described."""
        (found,) = self.client.describe_jobs(jobs=[identifier])["jobs"]
        return found

    def described(self, name: str = "env") -> dict[str, Any]:
        """Return an environment as it is described."""
        answer = self.client.describe_compute_environments(computeEnvironments=[name])
        return answer["computeEnvironments"][0]

    def wait(self, seconds: float) -> None:
        """Advance the time, second by second, as the sandbox's timekeeper does."""
        for _ in range(int(seconds)):
            CLOCK.advance(timedelta(seconds=1))
            tick(batch_stores[ACCOUNT][REGION], ec2_backends[ACCOUNT][REGION])
