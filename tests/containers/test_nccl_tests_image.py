"""The Dockerfile: linted, and with a pinned version for each external dependency."""

import re
import shutil
import subprocess
import sysconfig

import pytest

from tests.support.tracked import ROOT
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE

RECIPE = ROOT / "containers" / "nccl-tests"
DOCKERFILE = (RECIPE / "Dockerfile").read_text(encoding="utf-8")
ARGUMENTS = dict(re.findall(r"^ARG (\w+)=(.*)$", DOCKERFILE, flags=re.MULTILINE))


def linted(program, *arguments):
    found = shutil.which(program, path=sysconfig.get_path("scripts"))
    assert found is not None, f"the development environment holds {program}"
    return subprocess.run([found, *arguments], text=True, capture_output=True, check=False)


def test_hadolint_finds_nothing():
    done = linted("hadolint", "--no-color", str(RECIPE / "Dockerfile"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_would_find_something(tmp_path):
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM ubuntu:latest\nRUN cd /tmp && sudo make\n")
    done = linted("hadolint", "--no-color", str(bad))
    assert done.returncode == 1
    assert {"DL3003", "DL3004", "DL3007"} <= set(re.findall(r"DL\d{4}", done.stdout))


def test_shellcheck_finds_nothing_in_its_script():
    done = linted("shellcheck", "--norc", str(RECIPE / "all-reduce"))
    assert done.returncode == 0, done.stdout


def test_the_base_is_one_image_and_no_other():
    (base,) = re.findall(r"^FROM (\S+)$", DOCKERFILE, flags=re.MULTILINE)
    tag = base.rpartition(":")[2]
    assert re.match(r"\d+\.\d+\.\d+-", tag)


@pytest.mark.parametrize(
    "name",
    ["EFA_INSTALLER_VERSION", "AWS_OFI_NCCL_VERSION", "NCCL_VERSION", "NCCL_TESTS_VERSION"],
)
def test_every_part_has_a_version_which_the_readme_names(name):
    """BAT5-09: unpinned versions change."""
    version = ARGUMENTS[name].removeprefix("v")
    assert re.fullmatch(r"\d+\.\d+\.\d+(-\d+)?", version)
    assert f"${{{name}}}" in DOCKERFILE
    assert f" {version} " in (RECIPE / "README.md").read_text(encoding="utf-8")


def test_the_installer_is_run_only_with_the_signature_of_aws():
    assert DOCKERFILE.index("gpg --status-fd 1 --verify") < DOCKERFILE.index("./efa_installer.sh")
    assert "4E9091BCBB97A96B26B15E59A05480B1DD2D3CCC" in DOCKERFILE


def test_its_command_brings_the_nodes_together():
    """BAT-21, BAT5-10: the template's image ran a separate test on each node."""
    copied = re.search(r"^COPY (.+) /opt/trainyard/$", DOCKERFILE, flags=re.MULTILINE)
    assert copied is not None
    assert all((ROOT / path).is_file() for path in copied[1].split())
    assert 'CMD ["python3", "/opt/trainyard/node_start.py", "/opt/trainyard/all-reduce"]' in (
        DOCKERFILE
    )


def test_the_readme_says_that_nobody_built_it():
    text = (RECIPE / "README.md").read_text(encoding="utf-8")
    assert "This image was never built" in text


def test_the_readme_says_whether_the_base_is_pinned_by_its_digest():
    text = (RECIPE / "README.md").read_text(encoding="utf-8")
    assert ("The digest of the base could not be looked up" in text) != ("@sha256:" in DOCKERFILE)


def test_the_default_image_is_a_public_one_with_every_version_in_its_tag():
    registry, _, tag = NCCL_TESTS_IMAGE.rpartition(":")
    assert registry == "public.ecr.aws/hpc-cloud/nccl-tests"
    assert re.fullmatch(r"cuda[\d.]+-efa[\d.]+-ofiv[\d.]+-ncclv[\d.-]+-testsv[\d.]+", tag)
