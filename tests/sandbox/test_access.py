"""The access to a sandbox that others get."""

from __future__ import annotations

import json
import os
import subprocess

from trainyard.sandbox.access import Endpoint

SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def test_a_shell_exports_every_variable_as_it_is() -> None:
    endpoint = Endpoint("http://127.0.0.1:1/$(echo wrong) `echo wrong`;'\"", "KEY WITH SPACES")
    script = "\n".join([*endpoint.exports(), f"exec python3 -I -c '{SHOW}'"])
    shown = subprocess.run(
        ["sh", "-c", script],
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    exported = json.loads(shown.stdout)
    assert {name: exported.get(name) for name in endpoint.environment} == endpoint.environment
