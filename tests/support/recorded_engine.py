"""A `pulumi` that exports and imports a file, for tests of the state after a killed engine."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from trainyard.engine.engine_process import PulumiCommand
from trainyard.sandbox.access import Endpoint
from trainyard.workspace.recovery.timeouts import Timeouts

AT_ONCE = Timeouts(settle=0, poll=0, limit=60)


class RecordedEngine:
    """A `pulumi` that exports the contents of a file and imports into it."""

    def __init__(self, directory: Path, account: Endpoint) -> None:
        self.state, self.imports = directory / "state.json", directory / "imports"
        script = directory / "pulumi"
        script.write_text(
            "#!/bin/sh\n"
            'case "$2" in\n'
            "export) cat state.json;;\n"
            'import) cp "$6" state.json; echo x >> imports;;\n'
            "esac\n"
        )
        script.chmod(0o755)
        environment = {"PATH": "/usr/bin:/bin", **account.environment}
        self.command = PulumiCommand(script, directory, environment)

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources of the state."""
        return json.loads(self.state.read_text())["deployment"]["resources"]

    def write(
        self,
        *resources: dict[str, Any],
        pending: tuple[dict[str, Any], ...] = (),
        written: datetime | None = None,
    ) -> None:
        """Write a state with these resources and pending operations, and the time of its write."""
        inner: dict[str, Any] = {
            "resources": list(resources),
            "pending_operations": list(pending),
        }
        if written is not None:
            inner["manifest"] = {"time": written.isoformat()}
        self.state.write_text(json.dumps({"version": 3, "deployment": inner}))


def creating(urn: str, **inputs: Any) -> dict[str, Any]:
    """Return a pending create operation."""
    token = urn.split("::")[2]
    resource = {"urn": urn, "custom": True, "type": token, "inputs": inputs}
    return {"type": "creating", "resource": resource}
