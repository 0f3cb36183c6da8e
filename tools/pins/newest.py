"""Look up the newest version of each pin, with the clients that the user has configured.

pip, Go and Git know the user's indexes, proxies and mirrors; this module contains none of their
addresses. If a lookup fails, the answer says why, and what would help.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

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
from tools.pins.eks import PERMISSIONS, Account, AccountError
from tools.pins.image_tags import image_tags
from tools.pins.support import newest_python
from trainyard.components.account.image_registry import RegistryError
from trainyard.sandbox.engine.go_build import build_environment

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
