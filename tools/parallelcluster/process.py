"""Runs programs of ParallelCluster's environment against the account of a sandbox."""

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

from tools.parallelcluster.environment import parallelcluster_python

Configuration = Mapping[str, Any]
"""A cluster configuration, as its YAML reads."""

_KEPT = ("PATH", "TMPDIR", "LANG", "LC_ALL")
"""What a program gets of the user's environment; nothing that would lead to another account."""


class ParallelClusterError(RuntimeError):
    """ParallelCluster gave no answer; the message holds what it said instead."""


def ask(script: Path, request: Mapping[str, Any], *, aws_endpoint: str, region: str) -> Any:
    """Give a script a JSON object and return the JSON that it answers.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: the script broke.
    """
    with program_environment(aws_endpoint=aws_endpoint, region=region) as environment:
        done = run([str(script)], environment, request=json.dumps(request))
    return parsed(done, script.name)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, request: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the Python of ParallelCluster's environment to its end.

    Args:
        arguments: What follows `python`: a script, or `-m` and a module.
        environment: All environment variables of the process.
        request: What it reads from standard input.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
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
def program_environment(*, aws_endpoint: str, region: str) -> Iterator[dict[str, str]]:
    """Give the environment variables of a program whose account is a sandbox's.

    Its home is a directory of its own that ends with the block: ParallelCluster writes a log there.

    Args:
        aws_endpoint: Where every AWS call goes.
        region: The default region.
    """
    with tempfile.TemporaryDirectory(prefix="parallelcluster-") as home:
        yield {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "HOME": home,
            "AWS_ENDPOINT_URL": aws_endpoint,
            "AWS_DEFAULT_REGION": region,
            "AWS_REGION": region,
            "AWS_ACCESS_KEY_ID": "sandbox",
            "AWS_SECRET_ACCESS_KEY": "sandbox",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }


def parsed(done: subprocess.CompletedProcess[str], what: str) -> Any:
    """Return the JSON that a program printed.

    Raises:
        ParallelClusterError: it printed something else.
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
