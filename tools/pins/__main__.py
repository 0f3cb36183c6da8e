"""Report all pins of the project with their newest versions, and raise a pin.

``python -m tools.pins`` prints a table of all pins, ``python -m tools.pins 'eks-*'`` of some.
``python -m tools.pins raise NAME [VERSION]`` writes a new version and runs the dependent commands.

pip, Go and Git use their configured indexes and proxies; add-ons, AMIs and Kubernetes versions of
EKS require an account. Failed lookups are reported with the reason.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import boto3
from botocore.exceptions import BotoCoreError
from rich.console import Console

from tools.pins import Pin, PinError
from tools.pins.newest import Account, Answer, Clients, look_up
from tools.pins.raising import Raise, find, follow, mentions, plan
from tools.pins.registry import pins
from tools.pins.report import URGENT, findings, show

_PLAIN_WIDTH = 180
"""Width of the table if the output is not a terminal."""
_OFFLINE = Answer(reason="--offline")


Ask = Callable[[Iterable[Pin], argparse.Namespace], Mapping[str, Answer]]
"""Asks for the newest versions of pins, with the options of the command; returns them by name."""


def ask_everywhere(asked: Iterable[Pin], options: argparse.Namespace) -> Mapping[str, Answer]:
    """Ask the package indexes, the repositories and the account."""
    return look_up(asked, _clients(options))


def main(arguments: Sequence[str], ask: Ask = ask_everywhere) -> int:
    """Run the command. Return the exit code."""
    try:
        if arguments[:1] == ["raise"]:
            return _raise(_raise_parser().parse_args(arguments[1:]), ask)
        return _report(_report_parser().parse_args(arguments), ask)
    except PinError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


def _report(options: argparse.Namespace, ask: Ask) -> int:
    chosen = _chosen(options.names)
    today = datetime.now(UTC).date()
    if options.offline:
        answers = dict.fromkeys(chosen, _OFFLINE)
    else:
        _say(f"asking for the newest version of {len(chosen)} pins (a minute or two for all)")
        answers = ask(chosen.values(), options)
    found = findings(chosen, answers, today)
    if options.json:
        sys.stdout.write(json.dumps([each.document() for each in found], indent=2) + "\n")
    else:
        show(found, Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH))
    return 1 if options.check and any(each.state in URGENT for each in found) else 0


def _raise(options: argparse.Namespace, ask: Ask) -> int:
    pin = find(options.name, pins())
    change = plan(pin, options.version or _newest(pin, options, ask))
    for place in pin.places:
        if place.note:
            _say(f"{place.file}:{place.line} says: {place.note}")
    sys.stdout.write(change.diff())
    if options.dry_run:
        _say("a dry run: nothing is written. These commands would follow:")
        for command in change.commands:
            sys.stdout.write(f"  {command}\n")
    else:
        change.write()
        _say(f"{pin.name} is {change.version} now")
        follow(change.commands, _say)
    _say_what_to_read(change)
    return 0


def _newest(pin: Pin, options: argparse.Namespace, ask: Ask) -> str:
    if pin.by_hand:
        return pin.version  # plan() rejects it with the reason; no lookup is necessary
    answer = ask([pin], options)[pin.name]
    if answer.newest is None:
        raise PinError(
            f"the newest version of {pin.name} is not known ({answer.reason}); name one: "
            f"python -m tools.pins raise {pin.name} VERSION"
        )
    return answer.newest


def _say_what_to_read(change: Raise) -> None:
    named = mentions(change.pin, change.files)
    if named:
        sys.stdout.write(f"{change.pin.version} is still named here; read each line:\n")
    for line in named:
        sys.stdout.write(f"  {line[:120]}\n")
    sys.stdout.write("Then run these, and read the diff of what they record:\n")
    for test in change.tests:
        sys.stdout.write(f"  {test}\n")


def _chosen(patterns: Sequence[str]) -> dict[str, Pin]:
    known = pins()
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            find(pattern, known)
    return {
        name: pin
        for name, pin in known.items()
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def _clients(options: argparse.Namespace) -> Clients:
    today = datetime.now(UTC).date()
    try:
        session = boto3.Session(region_name=options.region, profile_name=options.profile)
        if session.region_name is None:
            return Clients(today=today, no_account="no region is set; give --region")
        if session.get_credentials() is None:
            return Clients(today=today, no_account="there are no AWS credentials")
    except BotoCoreError as error:
        return Clients(today=today, no_account=str(error))
    return Clients(today=today, account=Account(session.client))


def _report_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.pins",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="pins, such as boto3 or 'eks-*'")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--offline", action="store_true", help="ask nobody: places and support only"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 where a pin is behind or its support ends, for a scheduled job",
    )
    return _with_account(parser)


def _raise_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.pins raise")
    parser.add_argument("name", metavar="NAME", help="pin, as the report names it")
    parser.add_argument("version", metavar="VERSION", nargs="?", help="default: the newest one")
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")
    return _with_account(parser)


def _with_account(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--region", help="AWS region to ask, such as us-west-2")
    parser.add_argument("--profile", help="AWS profile to use")
    return parser


def _say(message: str) -> None:
    sys.stderr.write(f"• {message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
