"""The Batch response class."""

from __future__ import annotations

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.batch.jobs import JobCalls
from trainyard.sandbox.aws.batch.store import BatchBase, refuse


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
        arn, by_arn = self.params["resourceArn"], self.store.tags_by_arn()
        if arn not in by_arn:
            refuse(f"Resource {arn} does not exist.")
        return by_arn[arn]


class SandboxBatchResponse(JobCalls, TagCalls):
    """Handles Batch's calls; others are reported as not implemented."""
