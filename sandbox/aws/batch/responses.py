"""The Batch response class."""

from __future__ import annotations

from moto.core.responses import ActionResult, EmptyResult

from sandbox.aws.batch.base import BatchBase
from sandbox.aws.batch.errors import refuse
from sandbox.aws.batch.jobs import JobCalls


class TagCalls(BatchBase):
    """Calls on tags; mixed into the Batch response class."""

    def tag_resource(self) -> EmptyResult:
        """TagResource."""
        self._tags().update(self.params["tags"])
        return EmptyResult()

    def untag_resource(self) -> EmptyResult:
        """UntagResource."""
        for key in self.params["tagKeys"]:
            self._tags().pop(key, None)
        return EmptyResult()

    def list_tags_for_resource(self) -> ActionResult:
        """ListTagsForResource."""
        return ActionResult({"tags": self._tags()})

    def _tags(self) -> dict[str, str]:
        arn, store = self.params["resourceArn"], self.store
        every = {
            **{key: each.fields for key, each in store.environments.items()},
            **store.queues,
            **store.definitions,
            **{job.fields["jobArn"]: job.fields for job in store.jobs.values()},
        }
        if arn not in every:
            refuse(f"Resource {arn} does not exist.")
        return every[arn]["tags"]


class SandboxBatchResponse(JobCalls, TagCalls):
    """Handles Batch's calls; others are reported as not implemented."""
