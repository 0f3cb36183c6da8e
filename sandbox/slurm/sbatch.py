"""`sbatch` on the head nodes of the sandbox: submits recorded programs for jobs of the schedule.

Such a job has the options of the script that was given, in the command and in the script. All other
jobs are submitted as they are. Runs as a script of its own:
`sbatch.py SBATCH ENDPOINT KEY_FILE ARGUMENT…`.

Source:
    https://slurm.schedmd.com/sbatch.html: options in the script stand before its first command, are
        overridden by variables (`SBATCH_JOB_NAME`) and these by the command line; the name of a job
        is by default that of its script; without a script, it is read from standard input
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

_DIRECTIVE = "#SBATCH"


def main(arguments: list[str]) -> int:
    """Submit a job, and return the exit code of Slurm's own `sbatch`."""
    sbatch, endpoint, key_file, *given = arguments
    scripts = (at for at, each in enumerate(given) if each[:1] != "-" and Path(each).is_file())
    at = next(scripts, None)
    if at is None:
        return subprocess.run([sbatch, *given], check=False).returncode
    directives = _directives(Path(given[at]))
    name = (
        _job_name(given[:at])
        or os.environ.get("SBATCH_JOB_NAME")
        or _job_name([each for line in directives for each in _options(line)])
        or Path(given[at]).name
    )
    program = _recorded_program(endpoint, Path(key_file), name)
    if program is None:
        return subprocess.run([sbatch, *given], check=False).returncode
    text = "\n".join(["#!/bin/bash", *directives, program])
    command = [sbatch, f"--job-name={name}", *given[:at]]
    return subprocess.run(command, input=text, text=True, check=False).returncode


def _directives(script: Path) -> list[str]:
    """Return the lines with options, which end before the first command."""
    found: list[str] = []
    for line in script.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith(_DIRECTIVE):
            found.append(line)
    return found


def _options(directive: str) -> list[str]:
    return shlex.split(directive.removeprefix(_DIRECTIVE), comments=True)


def _job_name(options: list[str]) -> str | None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-J", "--job-name")
    return parser.parse_known_args(options)[0].job_name


def _recorded_program(endpoint: str, key_file: Path, job: str) -> str | None:
    # This program imports nothing of the sandbox: header and path are those of `access.py`.
    url = f"{endpoint}/_trainyard/slurm-job?{urlencode({'name': job})}"
    headers = {"X-Trainyard-Access-Key": key_file.read_text(encoding="utf-8")}
    request = Request(url, data=b"", headers=headers)  # noqa: S310 - the sandbox's own URL
    with build_opener(ProxyHandler({})).open(request) as answer:
        return json.load(answer)["program"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
