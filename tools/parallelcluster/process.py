"""Run programs in ParallelCluster's environment against the account of a sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python

Configuration = Mapping[str, Any]
"""A cluster configuration, as parsed from YAML."""

_KEPT = ("PATH", "TMPDIR", "LANG", "LC_ALL")
"""Variables of the user's environment that are passed on; none selects another account."""


class ParallelClusterError(RuntimeError):
    """ParallelCluster returned no result; the message has its output."""


def ask(script: Path, request: Mapping[str, Any], *, account: Endpoint, region: str) -> Any:
    """Pass a JSON object to a script and return its JSON result.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: the script failed.
    """
    with program_environment(account=account, region=region) as environment:
        done = run([str(script)], environment, request=json.dumps(request))
    return parsed(done, script.name)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, request: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the Python of ParallelCluster's environment and wait for it to end.

    Args:
        arguments: Arguments of `python`: a script, or `-m` and a module.
        environment: The complete environment of the process.
        request: Standard input of the process.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
    """
    return subprocess.run(
        [str(parallelcluster_python(_say)), *arguments],
        input=request,
        capture_output=True,
        text=True,
        env=dict(environment),
        check=False,
    )


@contextmanager
def program_environment(*, account: Endpoint, region: str) -> Iterator[dict[str, str]]:
    """Yield the environment variables of a program that uses a sandbox as account.

    Its home is a temporary directory, because ParallelCluster writes a log there.

    Args:
        account: Endpoint of all AWS calls, which is that of a sandbox.
        region: The default region.
    """
    with tempfile.TemporaryDirectory(prefix="parallelcluster-") as home:
        yield {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "HOME": home,
            **account.environment,
            "AWS_DEFAULT_REGION": region,
            "AWS_REGION": region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }


def parsed(done: subprocess.CompletedProcess[str], what: str) -> Any:
    """Return the JSON that a program printed.

    Raises:
        ParallelClusterError: the output is not JSON.
    """
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        said = (done.stderr or done.stdout).strip()
        raise ParallelClusterError(
            f"{what} gave no answer (exit code {done.returncode}):\n{said}"
        ) from error


def _say(message: str) -> None:
    sys.stderr.write(f"trainyard: {message}\n")
