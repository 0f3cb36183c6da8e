"""Look up the newest version of each pin, also of what needs an account, and its end of support."""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from functools import cache, partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tools.pins import (
    EksAddon,
    EksAmi,
    EksVersions,
    GitHead,
    GitTags,
    GoModule,
    ImageTags,
    Pin,
    PyPI,
    PythonReleases,
    Unasked,
    newest_like,
    numbers,
)
from tools.pins.image_tags import image_tags
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS, SUPPORT_NOTICE
from trainyard.components.compute.image_registry import RegistryError
from trainyard.sandbox.engine.go_build import build_environment

PERMISSIONS: Mapping[type, str] = {
    EksVersions: "eks:DescribeClusterVersions",
    EksAddon: "eks:DescribeAddonVersions",
    EksAmi: "ssm:GetParameter",
}
"""The API call for each source, which is also the required permission."""


class AccountError(Exception):
    """The account did not answer; the message has the request and the reason."""


class Account:
    """Queries EKS and Systems Manager in one region."""

    def __init__(self, client: Callable[[str], Any]) -> None:
        """Take a factory for service clients: ``boto3.Session.client``."""
        self._client = cache(client)
        self._addons = cache(self._describe_addons)
        self._minors = cache(self._describe_versions)
        self._one_at_a_time = threading.Lock()  # prevents duplicate requests

    def newest(self, source: EksVersions | EksAddon | EksAmi) -> tuple[str | None, str]:
        """Return the newest version and a note.

        For an add-on this is the version that EKS installs by default, as in the catalog.

        Raises:
            AccountError: the account cannot be queried, or denies the request.
        """
        try:
            with self._one_at_a_time:
                return self._ask(source)
        except (BotoCoreError, ClientError) as error:
            raise AccountError(f"{PERMISSIONS[type(source)]} failed: {error}") from error

    def _ask(self, source: EksVersions | EksAddon | EksAmi) -> tuple[str | None, str]:
        match source:
            case EksVersions():
                return max(self._minors(), key=numbers, default=None), ""
            case EksAddon(addon=addon, minor=minor):
                return self._default(addon, minor)
            case EksAmi(minor=minor):
                return self._release(minor), ""

    def _default(self, addon: str, minor: str) -> tuple[str | None, str]:
        default, newest = self._addons(minor).get(addon, (None, None))
        newer = newest if default != newest else None
        return default, f"EKS's default; {newer} exists too" if newer else ""

    def _describe_addons(self, minor: str) -> dict[str, tuple[str | None, str | None]]:
        """Return the default and the newest version of every add-on, by name."""
        found = dict[str, tuple[str | None, str | None]]()
        pages = self._client("eks").get_paginator("describe_addon_versions")
        for page in pages.paginate(kubernetesVersion=minor):
            for addon in page["addons"]:
                offered = [each["addonVersion"] for each in addon["addonVersions"]]
                default = next(_defaults(addon), None)
                found[addon["addonName"]] = default, max(offered, key=numbers, default=None)
        return found

    def _describe_versions(self) -> list[str]:
        pages = self._client("eks").get_paginator("describe_cluster_versions")
        return [
            each["clusterVersion"] for page in pages.paginate() for each in page["clusterVersions"]
        ]

    def _release(self, minor: str) -> str:
        """Return the release version of the recommended AMI.

        https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
        """
        name = (
            f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/standard/"
            "recommended/release_version"
        )
        return self._client("ssm").get_parameter(Name=name)["Parameter"]["Value"]


def _defaults(addon: Mapping[str, Any]) -> Iterator[str]:
    for offered in addon["addonVersions"]:
        if any(fit.get("defaultVersion") for fit in offered["compatibilities"]):
            yield offered["addonVersion"]


# End of support for pinned versions, from dated tables and published rules.
#
# Read in November 2026:
#
# - EKS: ``trainyard.components.catalog.versions.STANDARD_SUPPORT_ENDS``, with its own sources. -
# Python: https://devguide.python.org/versions/, "Status of Python versions"; a release is supported
# until the end of the month. - Go: https://go.dev/doc/devel/release#policy: until there are two
# newer major releases.


@dataclass(frozen=True, kw_only=True)
class PythonRelease:
    """A minor version of Python."""

    released: date
    ends: date
    """Last day of its security support."""


PYTHON: Mapping[str, PythonRelease] = {
    "3.11": PythonRelease(released=date(2022, 10, 24), ends=date(2027, 10, 31)),
    "3.12": PythonRelease(released=date(2023, 10, 2), ends=date(2028, 10, 31)),
    "3.13": PythonRelease(released=date(2024, 10, 7), ends=date(2029, 10, 31)),
    "3.14": PythonRelease(released=date(2025, 10, 7), ends=date(2030, 10, 31)),
    "3.15": PythonRelease(released=date(2026, 10, 1), ends=date(2031, 10, 31)),
}

_GO_RELEASES = 2
"""Number of major releases that the Go team supports."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """The support period of a version."""

    ends: date | None = None
    ended: bool = False
    words: str = ""
    """Text if there is no date."""

    def days_left(self, today: date) -> int | None:
        """Return the number of remaining days, if it is low enough to announce."""
        if self.ends is None or self.ended or self.ends - today > SUPPORT_NOTICE:
            return None
        return (self.ends - today).days


def newest_python(today: date) -> str:
    """Return the newest released minor version of Python."""
    return max((name for name, it in PYTHON.items() if it.released <= today), key=numbers)


def support(pin: Pin, newest: str | None, today: date) -> Support:
    """Return the support period of the pinned version.

    Args:
        pin: The pin.
        newest: The newest version, if known.
        today: The current date, in UTC.
    """
    product, release = pin.support or ("", "")
    if product == "EKS":
        ends = STANDARD_SUPPORT_ENDS.get(release)
        return Support(ends=ends, ended=ends is not None and today >= ends)
    if product == "Python":
        ends = PYTHON[release].ends if release in PYTHON else None
        return Support(ends=ends, ended=ends is not None and today > ends)
    if product == "Go":
        return _go(release, newest)
    return Support()


def _go(release: str, newest: str | None) -> Support:
    major, minor = numbers(release)[:2]
    last = minor + _GO_RELEASES
    words = f"with Go {major}.{last}"
    return Support(words=words, ended=newest is not None and numbers(newest)[1] >= last)


# Look up the newest version of each pin, with the clients that the user has configured.
#
# pip, Go and Git know the user's indexes, proxies and mirrors; this module contains none of their
# addresses. If a lookup fails, the answer says why, and what would help.


TIMEOUT_SECONDS = 120.0
"""Timeout for a response of pip, Go or Git."""

_AT_A_TIME = 4
_REASON_CHARACTERS = 160


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The newest version, or why it is unknown."""

    newest: str | None = None
    reason: str = ""
    """Why the lookup failed."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """The result of a command."""

    returncode: int
    output: str
    error: str


Run = Callable[[Sequence[str]], Command]


def run(command: Sequence[str]) -> Command:
    """Run a command outside every project, so that no project settings apply."""
    environment = build_environment() | {"GIT_TERMINAL_PROMPT": "0"}
    with tempfile.TemporaryDirectory() as directory:
        try:
            done = subprocess.run(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            return Command(returncode=127, output="", error=f"{command[0]} is not on the PATH")
        except subprocess.TimeoutExpired:
            said = f"{command[0]} gave no answer in {TIMEOUT_SECONDS:.0f} s"
            return Command(returncode=124, output="", error=said)
    return Command(returncode=done.returncode, output=done.stdout, error=done.stderr)


@dataclass(frozen=True, kw_only=True)
class Clients:
    """The clients for lookups. Tests replace them with recorded responses."""

    today: date
    run: Run = run
    tags: Callable[[str], list[str]] = image_tags
    account: Account | None = None
    no_account: str = ""
    """Why no account is queried."""
    python: str = field(default_factory=lambda: sys.executable)


def look_up(pins: Iterable[Pin], clients: Clients) -> dict[str, Answer]:
    """Return the newest version of each pin, by name. Failures are part of the answer."""
    wanted = list(pins)
    modules = {pin.source.path for pin in wanted if isinstance(pin.source, GoModule)}
    go = _go_versions(sorted(modules), clients.run)
    ask = partial(_answer, clients=clients, go=go)
    with ThreadPoolExecutor(max_workers=_AT_A_TIME) as pool:
        return dict(zip((pin.name for pin in wanted), pool.map(ask, wanted), strict=True))


def _answer(pin: Pin, clients: Clients, go: Mapping[str, list[str] | str]) -> Answer:
    match pin.source:
        case PythonReleases():
            return Answer(newest=newest_python(clients.today))
        case Unasked(reason=reason):
            return Answer(reason=reason)
        case GitHead(url=url):
            found = _git([url, "HEAD"], clients.run)
            return Answer(reason=found) if isinstance(found, str) else Answer(newest=found[0])
        case EksVersions() | EksAddon() | EksAmi() as source:
            return _account(source, clients)
        case source:
            return _best(pin, _versions(source, clients, go))


def _versions(
    source: PyPI | GoModule | GitTags | ImageTags,
    clients: Clients,
    go: Mapping[str, list[str] | str],
) -> list[str] | str:
    """Return all published versions; a string says why they are unknown."""
    match source:
        case PyPI(project=project):
            return _pypi_versions(project, clients)
        case GoModule(path=path):
            return go[path]
        case GitTags(url=url):
            return _git(["--tags", "--refs", url], clients.run)
        case ImageTags(repository=repository):
            return _tags(repository, clients)


def _best(pin: Pin, versions: list[str] | str) -> Answer:
    """Return the newest of the versions; a string says why there are none."""
    if isinstance(versions, str):
        return Answer(reason=versions)
    newest = newest_like(pin.version, versions, pin.series)
    if newest is None:
        return Answer(reason=f"no published version is spelled like {pin.version}")
    if numbers(newest) < numbers(pin.version):
        return Answer(reason=f"what is listed ends at {newest}, before the pinned version")
    overall = newest_like(pin.version, versions, 0) if pin.series else newest
    note = f"{overall} is of a later series" if overall != newest else ""
    return Answer(newest=newest, note=note)


def _pypi_versions(project: str, clients: Clients) -> list[str] | str:
    command = [clients.python, "-m", "pip", "--disable-pip-version-check", "index", "versions"]
    done = clients.run([*command, "--json", project])
    if done.returncode:
        return f"pip: {_short(done.error)}"
    return list(json.loads(done.output)["versions"])


def _go_versions(paths: Sequence[str], run: Run) -> dict[str, list[str] | str]:
    """Return the versions of Go modules by path, or why the proxy does not list them."""
    if not paths:
        return {}
    done = run(["go", "list", "-m", "-e", "-versions", "-json", *(f"{it}@latest" for it in paths)])
    if done.returncode:
        return dict.fromkeys(paths, f"go: {_short(done.error)}")
    found = dict[str, list[str] | str](dict.fromkeys(paths, "go: no answer for this module"))
    for module in _documents(done.output):
        error = module.get("Error")
        versions = [*module.get("Versions", []), module.get("Version", "")]
        found[module["Path"]] = f"go: {_short(error['Err'])}" if error else versions
    return found


def _documents(text: str) -> Iterable[dict[str, Any]]:
    """Yield concatenated JSON documents."""
    decoder = json.JSONDecoder()
    rest = text.strip()
    while rest:
        document, end = decoder.raw_decode(rest)
        yield document
        rest = rest[end:].lstrip()


def _git(arguments: Sequence[str], run: Run) -> list[str] | str:
    """Return the output of ``git ls-remote``: names of tags, or the commit of ``HEAD``."""
    done = run(["git", "ls-remote", *arguments])
    if done.returncode:
        return f"git: {_short(done.error)}"
    rows = [line.split("\t") for line in done.output.splitlines() if "\t" in line]
    return [
        commit if name == "HEAD" else name.removeprefix("refs/tags/") for commit, name in rows
    ] or "git: the repository lists nothing"


def _tags(repository: str, clients: Clients) -> list[str] | str:
    try:
        return clients.tags(repository)
    except RegistryError as error:
        return str(error)


def _account(source: EksVersions | EksAddon | EksAmi, clients: Clients) -> Answer:
    if clients.account is None:
        return Answer(reason=f"needs {PERMISSIONS[type(source)]}: {clients.no_account}")
    try:
        newest, note = clients.account.newest(source)
    except AccountError as error:
        return Answer(reason=str(error))
    if newest is None:
        return Answer(reason=f"{PERMISSIONS[type(source)]} lists no version")
    return Answer(newest=newest.removeprefix("v"), note=note)


def _short(said: str) -> str:
    """Return the output of a client as one line."""
    lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
    text = " ".join(lines) or "no answer"
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"
