"""The Batch response class."""

from __future__ import annotations

from sandbox.aws.batch.jobs import JobCalls
from sandbox.aws.batch.tags import TagCalls


class SandboxBatchResponse(JobCalls, TagCalls):
    """Handles Batch's calls; others are reported as not implemented."""
