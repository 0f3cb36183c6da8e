"""Slurm's commands as another user of the machine has them, with a munged and a key of their own.

That user can install Slurm, find the ports, and guess the rest of the configuration. What they
cannot get is the key of the sandbox's munged.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import until
from tests.support.stranger import Stranger, directory_between_users
from trainyard.sandbox.slurm.configuration import Layout


@dataclass(frozen=True, slots=True)
class StrangeSlurm:
    """A copy of Slurm's programs that every user can run, and a munged of another user."""

    programs: Path
    home: Path
    """Directory of the other user."""
    stranger: Stranger
    layout: Layout
    """The sandbox's Slurm."""

    def asks(self, *command: str, node: str) -> subprocess.CompletedProcess[str]:
        """Run one of Slurm's commands as the other user; `node` is the slurmd that it can ask."""
        variables = self._variables(self.home / "munge", node)
        return self.stranger.run(*self._loaded("bin", *command), environment=variables)

    def asks_with_the_key(self, *command: str, node: str) -> subprocess.CompletedProcess[str]:
        """Run the same with the sandbox's munged, as its user."""
        variables = self._variables(self.layout.munge_socket, node)
        return subprocess.run(
            self._loaded("bin", *command),
            env={"PATH": os.defpath, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def munged(self) -> Iterator[None]:
        """Run the other user's munged."""
        socket, key = self.home / "munge", self.home / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        for path in (self.home, key):
            shutil.chown(path, self.stranger.identity["user"], self.stranger.identity["group"])
        files = {"key": key, "socket": socket, "pid": self.home / "pid"}
        files |= {"log": self.home / "log", "seed": self.home / "seed"}
        options = [f"--{name}-file={path}" for name, path in files.items() if name != "socket"]
        command = self._loaded("sbin", "munged", "--foreground", "--force", *options)
        with subprocess.Popen(
            [*command, f"--socket={socket}"],
            **self.stranger.identity,
            cwd="/",
            env={},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                until(lambda: socket.exists() or process.poll() is not None, "the other munged")
                assert process.poll() is None, "the other user's munged does not start"
                yield
            finally:
                process.terminate()

    def _loaded(self, kind: str, name: str, *arguments: str) -> list[str]:
        """Return a command; the programs name a loader that others cannot read."""
        libraries = self.programs / "lib"
        paths = f"{libraries / 'slurm-wlm'}:{libraries}"
        loader = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", paths]
        return [*loader, str(self.programs / kind / name), *arguments]

    def _variables(self, munge_socket: Path, node: str) -> dict[str, str]:
        text = self.layout.configuration.read_text(encoding="utf-8")
        text = text.replace(str(self.layout.munge_socket), str(munge_socket))
        text = text.replace(str(self.layout.programs), str(self.programs))
        configuration = self.home / f"{munge_socket.parent.name}.conf"
        configuration.write_text(text, encoding="utf-8")
        configuration.chmod(0o644)
        return {"SLURM_CONF": str(configuration), "SLURMD_NODENAME": node}


@contextmanager
def strange_slurm(layout: Layout) -> Iterator[StrangeSlurm]:
    """Yield the commands, with a munged that runs."""
    stranger = Stranger()
    with directory_between_users() as directory:
        programs, home = directory / "slurm", directory / "home"
        shutil.copytree(layout.programs, programs, symlinks=True)
        programs.chmod(0o755)
        home.mkdir()
        made = StrangeSlurm(programs, home, stranger, layout)
        with made.munged():
            yield made
