"""The sandbox's `aws`: returns tokens for its clusters, in place of the AWS CLI.

A kubeconfig of pulumi-eks runs `aws eks get-token`, and the package requires an AWS CLI of version
2.7.0 or later (`nodejs/eks/dependencies.ts` of https://github.com/pulumi/pulumi-eks). This program
comes first on the PATH of a sandbox's engine. It handles these two calls and rejects all others, so
that it is not mistaken for the AWS CLI. As the AWS CLI does, it prints a token for a cluster that
does not exist, which no API server accepts.

It is self-contained and does not import the sandbox's packages, because `kubectl` starts it for
every command.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shlex
import sys
from pathlib import Path

VERSION = "aws-cli/2.7.0 trainyard-sandbox"
"""The oldest version that the package accepts, with the name of this program."""
EXEC_API = "client.authentication.k8s.io/v1beta1"
REFUSED = 252
"""Exit code of the AWS CLI: the command line is invalid.
https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-returncodes.html"""
FAILED = 254
"""Exit code of the AWS CLI: the service returned an error."""
_CLUSTER_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}")


def write_aws_program(directory: Path, *, clusters: Path, region: str) -> Path:
    """Write the program into a directory for the PATH; return the directory.

    Args:
        directory: The target directory.
        clusters: The directory of the sandbox's control planes.
        region: The only region that has clusters.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # -I: ignore the user's Python settings; -S: no packages are required.
    command = [sys.executable, "-I", "-S", __file__, str(clusters.resolve()), region]
    program = directory / "aws"
    partial = program.with_suffix(".partial")
    partial.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    partial.chmod(0o700)
    partial.replace(program)
    return directory


def main(arguments: list[str]) -> int:
    """Handle a call. Return the exit code."""
    clusters, region, *asked = arguments
    if asked == ["--version"]:
        return _answer(VERSION)
    try:
        given = _parser().parse_args(asked)
    except SystemExit:
        return REFUSED
    if given.region not in (None, region):
        return _fail(f"the sandbox's account is in {region}, not in {given.region}")
    if not _CLUSTER_NAME.fullmatch(given.cluster_name):
        return _fail(f"{given.cluster_name!r} is not the name of an EKS cluster")
    tokens = Path(clusters) / given.cluster_name / "pki" / "tokens.csv"
    try:
        token = tokens.read_text(encoding="utf-8").partition(",")[0]
    except FileNotFoundError:
        # The AWS CLI only signs a URL: it does not ask whether the cluster exists.
        # https://github.com/aws/aws-cli/blob/v2/awscli/customizations/eks/get_token.py
        token = secrets.token_urlsafe(32)
    except OSError as error:
        return _fail(f"the token of cluster {given.cluster_name}: {error.strerror}")
    return _answer(
        json.dumps(
            {
                "kind": "ExecCredential",
                "apiVersion": EXEC_API,
                "spec": {},
                "status": {"token": token},
            }
        )
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        _fail(
            "this is the aws of a trainyard sandbox, not the AWS CLI; it only knows "
            f"`aws eks get-token --cluster-name NAME`: {message}"
        )
        raise SystemExit(REFUSED)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="aws", allow_abbrev=False, add_help=False)
    parser.add_argument("--region")
    service = parser.add_subparsers(required=True, dest="service", parser_class=_Parser)
    eks = service.add_parser("eks", allow_abbrev=False, add_help=False)
    operations = eks.add_subparsers(required=True, dest="operation", parser_class=_Parser)
    get_token = operations.add_parser("get-token", allow_abbrev=False, add_help=False)
    get_token.add_argument("--cluster-name", required=True)
    get_token.add_argument("--output", choices=["json"])
    # The AWS CLI takes the beginning of an option for the option; pulumi-eks writes `--role`.
    get_token.add_argument("--role-arn", "--role")
    # Global options may precede or follow the operation; without a default, the first one stays.
    get_token.add_argument("--region", default=argparse.SUPPRESS)
    return parser


def _answer(text: str) -> int:
    sys.stdout.write(f"{text}\n")
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(f"aws (trainyard sandbox): {message}\n")
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
