"""Account checks of the workspace of Amazon Managed Service for Prometheus that receives metrics.

Source: https://docs.aws.amazon.com/prometheus/latest/APIReference/API_WorkspaceStatus.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import WorkspaceFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem

RECEIVING = frozenset({"ACTIVE", "CREATING", "UPDATING"})
"""States of a workspace that receives metrics, or soon will."""


def workspace_problems(
    use: Named, found: WorkspaceFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the metrics of nodes would be lost."""
    if found is None:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem=(
                f"this account has no such workspace in {context.region}, so the metrics of nodes "
                "would be lost"
            ),
            remedy=(
                "copy the ARN of a workspace (`aws amp list-workspaces`), or create one: "
                f"`aws amp create-workspace --alias NAME --region {context.region}`"
            ),
        )
    elif found.status not in RECEIVING:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=f"{use.name}, {found.status}",
            problem="this workspace receives no metrics",
            remedy="give another workspace (`aws amp list-workspaces`)",
        )
