"""CreateJobQueue, UpdateJobQueue, DescribeJobQueues, DeleteJobQueue.

https://docs.aws.amazon.com/batch/latest/userguide/job_queues.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.batch.attempts import end_attempt
from trainyard.sandbox.aws.batch.definitions import DefinitionCalls
from trainyard.sandbox.aws.batch.environment_checks import check_name
from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.store import ENDED, Fields
from trainyard.sandbox.aws.transitions import TRANSITIONS

_TYPE = "aws:batch/jobQueue:JobQueue"
_VALID = {"status": "VALID", "statusReason": "JobQueue Healthy"}
_MOST_ENVIRONMENTS = 3
"""https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html"""
_FIELDS = ("state", "priority", "computeEnvironmentOrder", "jobStateTimeLimitActions")


class QueueCalls(DefinitionCalls):
    """Calls on job queues; mixed into the Batch response class."""

    def create_job_queue(self) -> ActionResult:
        """CreateJobQueue: requires valid environments."""
        asked: Mapping[str, Any] = self.params
        only(asked, (*_FIELDS, "jobQueueName", "tags"), "a job queue")
        name = asked["jobQueueName"]
        check_name(name)
        arn = self.store.arn("job-queue", name)
        if arn in self.store.queues:
            refuse(f"Object already exists: {name}")
        queue: Fields = {
            "jobQueueName": name,
            "jobQueueArn": arn,
            "state": asked.get("state") or "ENABLED",
            "status": "CREATING",
            "statusReason": "",
            "priority": asked["priority"],
            "computeEnvironmentOrder": self._order(asked.get("computeEnvironmentOrder")),
            "jobStateTimeLimitActions": asked.get("jobStateTimeLimitActions") or [],
            "tags": dict(asked.get("tags") or {}),
        }
        self.store.queues[arn] = queue
        TRANSITIONS.begin(_TYPE, "create", lambda: queue.update(_VALID))
        return ActionResult({"jobQueueName": name, "jobQueueArn": arn})

    def update_job_queue(self) -> ActionResult:
        """UpdateJobQueue: fields that are not given are kept."""
        asked: Mapping[str, Any] = self.params
        only(asked, (*_FIELDS, "jobQueue"), "an update of a job queue")
        queue = self.store.queue(asked["jobQueue"])
        if asked.get("computeEnvironmentOrder") is not None:
            queue["computeEnvironmentOrder"] = self._order(asked["computeEnvironmentOrder"])
        for key in ("state", "priority", "jobStateTimeLimitActions"):
            if asked.get(key) is not None:
                queue[key] = asked[key]
        return ActionResult({key: queue[key] for key in ("jobQueueName", "jobQueueArn")})

    def describe_job_queues(self) -> ActionResult:
        """DescribeJobQueues."""
        found = self.store.described("job-queue", self.params.get("jobQueues"))
        return ActionResult({"jobQueues": list(found)})

    def delete_job_queue(self) -> EmptyResult:
        """DeleteJobQueue: must be disabled; its jobs end."""
        name = self.params["jobQueue"]
        arn = name if name.startswith("arn:") else self.store.arn("job-queue", name)
        queue = self.store.queues.get(arn)
        if queue is None:
            return EmptyResult()
        if queue["state"] != "DISABLED":
            refuse("Cannot delete, state must be DISABLED")
        for job in self.store.jobs_of(arn):
            if job.status not in ENDED:
                end_attempt(
                    self.store, job, exit_code=None, reason="Job queue was deleted", final=True
                )
        queue.update(status="DELETING", statusReason="")
        queues = self.store.queues
        TRANSITIONS.begin(_TYPE, "delete", lambda: queues.pop(arn, None))
        return EmptyResult()

    def _order(self, asked: list[Fields] | None) -> list[Fields]:
        """Return the environments of a queue by their ARNs."""
        if not asked:
            refuse("At least one compute environment must be provided.")
        if len(asked) > _MOST_ENVIRONMENTS:
            refuse(f"A job queue has at most {_MOST_ENVIRONMENTS} compute environments.")
        order: list[Fields] = []
        for each in asked:
            environment = self.store.environment(each["computeEnvironment"])
            if environment.fields["status"] != "VALID":
                refuse(f"{environment.arn} is not VALID: {environment.fields['statusReason']}")
            order.append({"order": each["order"], "computeEnvironment": environment.arn})
        return sorted(order, key=lambda each: each["order"])
