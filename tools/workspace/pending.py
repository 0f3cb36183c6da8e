"""Operations that a killed engine left unfinished in the state.

Only graceful stops finish what is in flight. After a kill the state says that a create was begun,
and neither the engine nor we know whether AWS finished it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tools.workspace.engine_process import PulumiCommand


class CreatesPendingError(Exception):
    """An account may hold objects that the state does not know; the message says what to do."""


def pending_creates(deployment: dict[str, Any]) -> list[str]:
    """Return the URNs of creates that were begun and not finished, from an exported stack."""
    operations = deployment.get("deployment", {}).get("pending_operations") or []
    return [o["resource"]["urn"] for o in operations if o.get("type") == "creating"]


def without_pending_operations(deployment: dict[str, Any]) -> dict[str, Any]:
    """Return an exported stack with nothing pending."""
    inner = {k: v for k, v in deployment["deployment"].items() if k != "pending_operations"}
    return {**deployment, "deployment": inner}


def clear_pending_operations(command: PulumiCommand, *, stack: str) -> list[str]:
    """Drop what is pending from the state of a sandbox stack; return the URNs of its creates.

    Whether the objects exist is found out by the next refresh or create; only an account that is
    made to be thrown away may be treated so.
    """
    deployment = _export(command, stack)
    operations = deployment.get("deployment", {}).get("pending_operations")
    if not operations:
        return []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "stack.json"
        path.write_text(json.dumps(without_pending_operations(deployment)), encoding="utf-8")
        command.output(["stack", "import", "--stack", stack, "--file", str(path)])
    return pending_creates(deployment)


def refuse_pending_creates(command: PulumiCommand, *, stack: str) -> None:
    """Stop before objects of an account are made twice.

    Raises:
        CreatesPendingError: an earlier command was killed while it created something.
    """
    creates = pending_creates(_export(command, stack))
    if creates:
        raise CreatesPendingError(
            f"an earlier command on {stack} was killed while it created:\n"
            + "".join(f"  {urn}\n" for urn in creates)
            + "look whether they exist in the account; then import those that do with\n"
            f"  pulumi refresh --stack {stack} --import-pending-creates 'URN ID'\n"
            "and drop those that do not with\n"
            f"  pulumi refresh --stack {stack} --clear-pending-creates\n"
            "because creating them again would make a second one that nobody counts"
        )


def _export(command: PulumiCommand, stack: str) -> dict[str, Any]:
    # Secrets stay encrypted: they go back as they came.
    return json.loads(command.output(["stack", "export", "--stack", stack]))
