"""The node scripts with Debian's own apt and dpkg: what is installed, and what is left alone."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.parallelcluster.support.apt import Publisher, add_apt, prepare_dpkg
from tests.parallelcluster.support.node_root import NodeRoot, make_base
from trainyard.components.parallelcluster.node_scripts import script_text

NEURON = "apt.repos.neuron.amazonaws.com noble main"
DOCKER = "download.docker.com/linux/ubuntu noble stable"
NVIDIA = "nvidia.github.io/libnvidia-container/stable/deb/amd64"
PINNED = {
    "aws-neuronx-dkms": "2.30.2.0",
    "aws-neuronx-collectives": "2.34.10.0-0123abcde",
    "aws-neuronx-runtime-lib": "2.34.10.0-4567fghij",
    "aws-neuronx-tools": "2.32.28.0",
}
OFFERED = {
    **{name: [version] for name, version in PINNED.items()},
    "aws-neuronx-dkms": ["2.29.9.0", "2.30.2.0", "2.31.0.0"],
    "aws-neuronx-tools": ["2.32.28.0", "2.33.38.0"],
    "of-the-image": ["1.0", "1.1"],
}
"""The repository has older and newer versions, and another package of the image."""
ENGINE = "1~ubuntu.24.04~noble"
DOCKERS = {
    "docker-ce": [f"5:29.8.2-{ENGINE}", f"5:30.0.0-{ENGINE}"],
    "docker-ce-cli": [f"5:29.8.2-{ENGINE}", f"5:30.0.0-{ENGINE}"],
    "containerd.io": [f"2.3.6-{ENGINE}", f"2.4.0-{ENGINE}"],
    "docker-buildx-plugin": [f"0.37.1-{ENGINE}"],
    "docker-compose-plugin": [f"5.6.0-{ENGINE}"],
}
TOOLKIT = ("nvidia-container-toolkit", "nvidia-container-toolkit-base")
LIBRARIES = ("libnvidia-container-tools", "libnvidia-container1")
TOOLKITS = {name: ["1.20.0-1", "1.21.0-1"] for name in (*TOOLKIT, *LIBRARIES)}


@pytest.fixture(scope="module")
def publisher():
    with tempfile.TemporaryDirectory() as directory:
        made = Publisher(Path(directory))
        yield made
        made.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory, publisher):
    """The root directory of a node that can reach the repositories."""
    directory = tmp_path_factory.mktemp("base")
    make_base(directory)
    add_apt(directory)
    for address, offered in {NEURON: OFFERED, DOCKER: DOCKERS, NVIDIA: TOOLKITS}.items():
        publisher.publish(directory, address, offered)
    return directory


@pytest.fixture
def node(base, tmp_path, publisher):
    made = NodeRoot(base, tmp_path / "node", "ubuntu2404")
    prepare_dpkg(made.path)
    made.write("lib/modules/6.8.0-1029-aws/build/Makefile", "")
    for name in ("GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB", "gpg", "gpgkey"):
        made.write(f"downloads/{name}", publisher.key())
    return made


def install(node, *packages):
    """Install packages of the Neuron repository, as the image has them."""
    key = node.read("downloads/gpg")
    node.write("etc/apt/keyrings/image.asc", key)
    source = f"deb [signed-by=/etc/apt/keyrings/image.asc] https://{NEURON}\n"
    node.write("etc/apt/sources.list.d/image.list", source)
    node.must("apt-get", "update")
    node.must("apt-get", "install", "--yes", *packages)
    (node.path / "etc/apt/sources.list.d/image.list").unlink()


def run(node, name):
    done = node.run(script_text(name))
    assert done.returncode == 0, done.stderr


def installed(node):
    shown = node.must("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n")
    return dict(line.split() for line in shown.splitlines())


def test_apt_installs_the_pinned_versions_and_updates_nothing_else(node):
    install(node, "of-the-image=1.0")
    run(node, "neuron")
    assert installed(node) == {**PINNED, "of-the-image": "1.0"}
    assert node.read("usr/share/aws-neuronx-tools/version") == "2.32.28.0"


def test_a_second_run_changes_nothing(node):
    run(node, "neuron")
    before = node.tree()
    run(node, "neuron")
    assert node.tree() == before


@pytest.mark.parametrize("held", [False, True], ids=["", "held"])
@pytest.mark.parametrize("version", ["2.29.9.0", "2.31.0.0"], ids=["older", "newer"])
def test_another_version_of_the_image_gives_way_to_the_pinned_one(node, version, held):
    install(node, f"aws-neuronx-dkms={version}")
    if held:
        hold = "echo aws-neuronx-dkms hold | dpkg --set-selections"
        node.must("bash", "-c", hold)
    run(node, "neuron")
    assert installed(node) == PINNED


def test_a_node_does_not_start_without_a_pinned_version(node, publisher):
    shutil.rmtree(node.path / "repositories")
    offered = {**OFFERED, "aws-neuronx-tools": ["2.33.38.0"]}
    publisher.publish(node.path, NEURON, offered)
    done = node.run(script_text("neuron"))
    assert done.returncode != 0
    assert "Version '2.32.28.0*' for 'aws-neuronx-tools' was not found" in done.stderr
    assert installed(node) == {}


def test_packages_with_another_signature_are_not_installed(node):
    with tempfile.TemporaryDirectory() as directory:
        other = Publisher(Path(directory))
        node.write("downloads/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB", other.key())
        other.close()
    done = node.run(script_text("neuron"))
    assert done.returncode != 0
    assert "is not signed" in done.stderr
    assert installed(node) == {}


def test_docker_and_the_container_toolkit_come_from_their_repositories(node):
    """The repository of NVIDIA is flat, and its address has the architecture in it."""
    node.write("proc/driver/nvidia/version", "595.71.05")
    run(node, "docker")
    wanted = {name: versions[0] for name, versions in (DOCKERS | TOOLKITS).items()}
    assert installed(node) == wanted
    before = node.tree()
    run(node, "docker")
    assert node.tree() == before
