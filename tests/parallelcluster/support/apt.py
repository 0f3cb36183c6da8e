"""Debian's own apt and dpkg on a node, and repositories of packages that they install from.

apt and dpkg are those of this machine, which choose, verify and install packages like those of
Ubuntu. Only the network is missing: the file `/repositories/HOST/PATH` of the node stands for
`https://HOST/PATH`. The packages have the names and versions of the real ones, and one file each.

Sources:
    https://salsa.debian.org/apt-team/apt/-/blob/2.6.1/doc/method.dbk: what apt says to a program
        that fetches files (`600 URI Acquire`), and its answers (200, 201, 400)
    https://wiki.debian.org/DebianRepository/Format: Packages, Release and InRelease
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.parallelcluster.support.node_root import copy_program

_PROGRAMS = (
    *("apt-config", "apt-get", "apt-key", "dpkg", "dpkg-deb", "dpkg-query", "dpkg-split", "gpgv"),
    *("ldconfig", "start-stop-daemon", "tar"),
    *("awk", "base64", "cmp", "diff", "find", "id", "readlink", "sh", "sort", "touch", "wc"),
)
_METHODS = Path("/usr/lib/apt/methods")
_TABLES = Path("/usr/share/dpkg")
_NETWORK = """\
#!/bin/bash
printf '100 Capabilities\\nVersion: 1.2\\nSend-Config: true\\n\\n'
while IFS= read -r line; do
  if [[ $line == URI:* ]]; then
    uri=${line#URI: }
  elif [[ -z $line && -n ${uri-} ]]; then
    file=/repositories/${uri#https://}
    if [[ -f $file ]]; then
      about=$(printf 'URI: %s\\nSize: %s' "$uri" "$(stat -c %s "$file")")
      printf '200 URI Start\\n%s\\n\\n' "$about"
      printf '201 URI Done\\n%s\\nFilename: %s\\n\\n' "$about" "$file"
    else
      printf '400 URI Failure\\nURI: %s\\nMessage: 404 Not Found\\n\\n' "$uri"
    fi
    unset uri
  fi
done
"""
_SETTINGS = """\
APT::Sandbox::User "root";
Dpkg::Use-Pty "false";
"""


def add_apt(directory: Path) -> None:
    """Replace the stubs of a node's root directory, or skip the test where there is no apt."""
    if shutil.which("apt-get") is None or not _METHODS.exists():
        pytest.skip("this machine has no apt")
    for name in _PROGRAMS:
        copy_program(name, directory / "usr/bin" / name)
    for name in ("copy", "file", "gpgv", "store"):
        copy_program(str(_METHODS / name), directory / "usr/lib/apt/methods" / name)
    shutil.copytree(_TABLES, directory / "usr/share/dpkg")
    network = directory / "usr/lib/apt/methods/https"
    network.write_text(_NETWORK)
    network.chmod(0o755)
    # The scripts wait between their attempts.
    (directory / "usr/bin/sleep").write_text("#!/bin/bash\n")


def prepare_dpkg(root: Path) -> None:
    """Make the directories of apt and dpkg, in which no package is installed."""
    for name in (
        *("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d"),
        *("etc/apt/trusted.gpg.d", "var/cache/apt/archives/partial", "var/lib/apt/lists/partial"),
        *("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log/apt"),
    ):
        (root / name).mkdir(parents=True)
    for name in ("available", "status"):
        (root / "var/lib/dpkg" / name).write_text("")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/bash\n")
    (root / "etc/apt/apt.conf.d/trainyard-tests").write_text(_SETTINGS)


class Publisher:
    """Signs repositories with a key of its own."""

    def __init__(self, directory: Path) -> None:
        """Make the key.

        Args:
            directory: An empty directory with a short path, because gpg's agent has a socket in it.
        """
        self._directory = directory
        self._architecture = self._run("dpkg", "--print-architecture").strip()
        self._gpg = ("gpg", "--homedir", directory, "--batch", "--quiet")
        made = ("--quick-gen-key", "Packages <packages@example.com>", "ed25519", "sign", "never")
        self._run(*self._gpg, "--passphrase", "", *made)

    def key(self) -> str:
        """Return the public key, in the form in which publishers offer it."""
        return self._run(*self._gpg, "--armor", "--export")

    def publish(self, root: Path, address: str, versions: Mapping[str, Sequence[str]]) -> None:
        """Put a repository where a node finds it.

        Args:
            root: Root directory of the node.
            address: Host and path, then the suite and its component as in sources.list; without
                them, the repository is flat:
                https://wiki.debian.org/DebianRepository/Format#Flat_Repository_Format
            versions: Versions of each package.
        """
        base, suite, component = (*address.split(), "", "")[:3]
        repository = root / "repositories" / base
        for name, offered in versions.items():
            for version in offered:
                self._package(repository, name, version)
        index = f"{component}/binary-{self._architecture}/Packages" if suite else "Packages"
        lists = repository / f"dists/{suite}" if suite else repository
        (lists / index).parent.mkdir(parents=True, exist_ok=True)
        scanned = self._run("dpkg-scanpackages", "--multiversion", ".", cwd=repository)
        (lists / index).write_text(scanned)
        release = lists / "Release"
        digest = hashlib.sha256(scanned.encode()).hexdigest()
        release.write_text(
            f"Codename: {suite}\nArchitectures: {self._architecture}\nComponents: {component}\n"
            f"Date: {formatdate(usegmt=True)}\nSHA256:\n {digest} {len(scanned)} {index}\n"
        )
        self._run(*self._gpg, "--yes", "--clearsign", "--output", lists / "InRelease", release)

    def close(self) -> None:
        """End the agent of gpg."""
        self._run("gpgconf", "--homedir", self._directory, "--kill", "all")

    def _package(self, repository: Path, name: str, version: str) -> None:
        files = self._directory / "package"
        (files / "DEBIAN").mkdir(parents=True)
        (files / f"usr/share/{name}").mkdir(parents=True)
        (files / f"usr/share/{name}/version").write_text(version)
        (files / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: {self._architecture}\n"
            f"Maintainer: Tests <tests@example.com>\nDescription: {name}\n"
        )
        repository.mkdir(parents=True, exist_ok=True)
        target = repository / f"{name}_{version.replace(':', '%3a')}.deb"
        self._run("dpkg-deb", "--root-owner-group", "--build", files, target)
        shutil.rmtree(files)

    @staticmethod
    def _run(*command: object, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [str(each) for each in command], cwd=cwd, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
