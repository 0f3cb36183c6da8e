"""Serve a provider plugin through the gate: `python -m tests.support.kills.gated_plugin aws`."""

from __future__ import annotations

import os
import runpy
import stat
import sys
import threading
from pathlib import Path
from typing import Any

from pulumi.runtime.proto import provider_pb2_grpc

from tests.support.kills.gate import DIRECTORY, Gate, gated

DYNAMIC = "pulumi-python"
"""The plugin of dynamic resources, which is Pulumi's own."""


def _end_with_the_engine() -> None:
    # As the launcher's script for this plugin does: the engine holds the other end of the pipe.
    while os.read(0, 1024):
        pass
    os._exit(0)


def main(name: str) -> None:
    """Serve the plugin of that name until its engine is gone."""
    gate = Gate(Path(os.environ[DIRECTORY]))
    add = provider_pb2_grpc.add_ResourceProviderServicer_to_server

    def add_gated(servicer: Any, server: Any) -> None:
        add(gated(servicer, gate), server)

    provider_pb2_grpc.add_ResourceProviderServicer_to_server = add_gated
    if name == DYNAMIC and stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=_end_with_the_engine, daemon=True).start()
    module = "pulumi.dynamic" if name == DYNAMIC else f"sandbox.providers.{name}"
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv.pop(1))
