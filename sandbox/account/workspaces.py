"""Workspaces of Amazon Managed Service for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from moto.amp.models import amp_backends

from trainyard.sandbox.aws.environment import ACCOUNT_ID


def load_workspaces(region: str, ids: Iterable[str]) -> None:
    """Make the workspaces, with fixed ids instead of moto's random ones."""
    backend = amp_backends[ACCOUNT_ID][region]
    for workspace_id in ids:
        made = backend.create_workspace(alias="", tags={})
        del backend.workspaces[made.workspace_id]
        made.arn = made.arn.replace(made.workspace_id, workspace_id)
        made.endpoint = made.endpoint.replace(made.workspace_id, workspace_id)
        made.workspace_id = workspace_id
        backend.workspaces[workspace_id] = made
