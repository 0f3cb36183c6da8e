"""The Batch response class."""

from __future__ import annotations

from sandbox.aws.batch.jobs import JobCalls
from sandbox.aws.batch.tags import TagCalls


class SandboxBatchResponse(JobCalls, TagCalls):
    """Answers Batch's calls; a call that no part has is answered as not implemented."""
