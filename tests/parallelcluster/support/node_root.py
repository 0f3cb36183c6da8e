"""The file system of a node in a directory, in which its scripts run with chroot(2).

Bash and the usual programs are those of this machine, with their libraries. Package managers,
downloads and services are stubs that record their calls in `/calls` and what is installed in
`/var/lib/packages`.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

_PROGRAMS = (
    *("bash", "cat", "chgrp", "chmod", "cp", "dirname", "grep", "mkdir", "mktemp", "mv", "nproc"),
    *("rm", "sed", "sha256sum", "sleep", "stat", "tr"),
)
_STUBS: Mapping[str, str] = {
    # The version that a pattern stands for has a suffix.
    "apt-get": """\
for word; do
  case $word in --* | *::*=* | *=/*) ;; *=*) echo "${word%%=*} ${word#*=}" ;; esac
done | sed 's/\\*$/-1a2b3c/' >>/var/lib/packages
""",
    "dpkg-query": """\
while read -r name version; do
  [[ $name != "${!#}" ]] || { echo "installed $version"; exit; }
done </var/lib/packages
exit 1
""",
    "dpkg": "echo amd64",
    "dnf": """\
shift 2
for word; do
  name=${word%%-[0-9]*}
  version=${word#"$name"}
  version=${version#-}
  echo "$name ${version:-25.0.14-1.amzn2023.0.1}"
done | sed 's/\\*$/-1/' >>/var/lib/packages
""",
    "rpm": """\
while read -r name version; do
  if [[ $name == "${!#}" ]]; then
    [[ $2 == --quiet ]] || echo "$version"
    exit
  fi
done </var/lib/packages
exit 1
""",
    "curl": """\
address=${!#}
while [[ $1 != --output ]]; do shift; done
file=/downloads/${address##*/}
if [[ -e $file ]]; then cp "$file" "$2"; else echo key >"$2"; fi
""",
    "dos2unix": "sed -i 's/\\r$//' \"${!#}\"",
    "systemctl": ":",
    "nvidia-ctk": """\
mkdir -p /etc/docker
echo '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}' >/etc/docker/daemon.json
""",
    "mountpoint": "[[ -e ${!#}/.mounted ]]",
    "uname": "echo 6.8.0-1029-aws",
    "git": """\
case $* in
  clone*)
    mkdir -p "${!#}"
    for program in autogen.sh configure; do
      printf '#!/bin/bash\\n' >"${!#}/$program"
      chmod 0755 "${!#}/$program"
    done
    ;;
  *) cat "/commits/${2##*/}" ;;
esac
""",
    "make": ":",
    "docker": ":",
    "aws": 'cp "/downloads/${6##*/}" "$7"',
}
_RELEASES = {
    "alinux2023": 'ID="amzn"\nVERSION_ID="2023"\n',
    "ubuntu2204": 'ID=ubuntu\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n',
    "ubuntu2404": 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n',
}


def make_base(directory: Path) -> None:
    """Put the programs into a directory, or skip the test where they cannot run."""
    if not Path("/proc/self/exe").exists() or shutil.which("ldd") is None:
        pytest.skip("only Linux runs programs in another root directory")
    for part in ("bin", "lib", "lib64"):
        (directory / "usr" / part).mkdir(parents=True)
        (directory / part).symlink_to(f"usr/{part}")
    for name in _PROGRAMS:
        copy_program(name, directory / "usr/bin" / name)
    for name, text in _STUBS.items():
        stub = directory / "usr" / ("local/bin" if name == "aws" else "bin") / name
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(f'#!/bin/bash\necho "{name} $*" >>/calls\n{text}\n')
        stub.chmod(0o755)
    done = _chrooted(directory, ["bash", "-c", ":"])
    if done.returncode:
        pytest.skip(f"this user cannot change the root directory: {done.stderr.strip()}")


def copy_program(name: str, target: Path) -> None:
    """Copy a program of this machine with its libraries, or skip the test where there is none."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    program = Path(found or pytest.skip(f"{name} is not installed"))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(program.resolve(), target)
    root = next(each for each in target.parents if each.name == "usr").parent
    for library in _libraries(program):
        copy = root / library.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            shutil.copy(library.resolve(), copy)


def _libraries(program: Path) -> Iterator[Path]:
    if program.read_bytes().startswith(b"#!"):
        return
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    yield from map(Path, re.findall(r"(/\S+) \(0x", listed))


def _chrooted(root: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    found = {
        name: shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        for name in ("chroot", "unshare")
    }
    chroot, unshare = found["chroot"], found["unshare"]
    if chroot is None or unshare is None:
        pytest.skip("chroot and unshare are not installed")
    own = [chroot] if os.geteuid() == 0 else [unshare, "--map-root-user", chroot]
    return subprocess.run(
        [*own, root, *command],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


class NodeRoot:
    """One node."""

    def __init__(
        self, base: Path, directory: Path, operating_system: str, *, node_type: str = "ComputeFleet"
    ) -> None:
        self.path = directory
        shutil.copytree(base, directory, symlinks=True, copy_function=os.link)
        # Its owner and mode change, so it is no link.
        docker = directory / "usr/bin/docker"
        text = docker.read_text()
        docker.unlink()
        self.write("usr/bin/docker", text, mode=0o755)
        for name in ("tmp", "var/lib", "dev", "run"):
            (directory / name).mkdir(parents=True)
        self.write("dev/null", "")
        self.write("calls", "")
        self.write("var/lib/packages", "")
        self.write("etc/group", "root:x:0:\ndocker:x:990:\n")
        self.write("etc/nsswitch.conf", "group: files\n")
        self.write("etc/os-release", _RELEASES[operating_system])
        self.write(
            "etc/parallelcluster/cfnconfig",
            f"cfn_node_type={node_type}\ncfn_ephemeral_dir=/scratch\ncfn_cluster_user=ubuntu\n"
            "cfn_region=us-west-2\n",
        )

    def write(self, path: str, text: str, *, mode: int = 0o644) -> None:
        """Write a file."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.path / path).read_text()

    def mode(self, path: str) -> int:
        """Return the permissions of a file or directory."""
        return stat.S_IMODE((self.path / path).stat().st_mode)

    def must(self, *command: str) -> str:
        """Run a program of the node that must succeed; return its output."""
        done = _chrooted(self.path, command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the text of a script."""
        self.write("tmp/script", script, mode=0o755)
        return _chrooted(self.path, ["/tmp/script", *arguments])

    def calls(self, *programs: str) -> list[str]:
        """Return the calls of stubs, and forget them."""
        lines = self.read("calls").splitlines()
        self.write("calls", "")
        return [line for line in lines if not programs or line.split()[0] in programs]

    def tree(self) -> dict[str, tuple[int, int, int, str]]:
        """Return mode, group, time of change and text of everything that the node keeps."""
        left_out = ("tmp", "dev", "calls", "usr/lib", "usr/lib64")
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            if not name.startswith(left_out):
                about = path.lstat()
                text = path.read_text(errors="replace") if path.is_file() else ""
                found[name] = (about.st_mode, about.st_gid, about.st_mtime_ns, text)
        return found
