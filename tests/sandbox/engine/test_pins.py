"""Pinned versions that a build or a lock file repeats are the same everywhere."""

import re
from pathlib import Path

import pytest

from tools import lock
from trainyard.components.eks.addons.jobset import IMAGE as JOBSET_IMAGE
from trainyard.components.eks.addons.kueue import IMAGE as KUEUE_IMAGE
from trainyard.sandbox.engine import pins

ROOT = Path(__file__).resolve().parents[3]
CONTROL_PLANE = "sandbox/kubernetes/control_plane"
CONTROLLERS = "sandbox/kubernetes/controllers"
MODULES = (
    "sandbox/engine/aws_plugin",
    "sandbox/engine/pulumi",
    "sandbox/engine/language_host",
    "tools/programs/prometheus",
    CONTROL_PLANE,
    CONTROLLERS,
)


def go_mod(module: str) -> str:
    return (ROOT / module / "go.mod").read_text()


@pytest.mark.parametrize(
    ("module", "path", "version"),
    [
        ("sandbox/engine/pulumi", "github.com/pulumi/pulumi/pkg/v3", pins.PULUMI_VERSION),
        ("sandbox/engine/language_host", "github.com/pulumi/pulumi/sdk/v3", pins.PULUMI_VERSION),
        (CONTROL_PLANE, "k8s.io/kubernetes", pins.KUBERNETES_VERSION),
        (CONTROL_PLANE, "go.etcd.io/etcd/server/v3", pins.ETCD_VERSION),
    ],
)
def test_a_build_is_of_the_version_that_is_downloaded(module: str, path: str, version: str) -> None:
    assert re.search(rf"^\s*(?:require )?{re.escape(path)} v{version}$", go_mod(module), re.M)


@pytest.mark.parametrize(
    ("path", "image"), [("sigs.k8s.io/jobset", JOBSET_IMAGE), ("sigs.k8s.io/kueue", KUEUE_IMAGE)]
)
def test_a_cluster_has_the_controller_of_the_sandbox_or_a_later_patch_of_it(path, image):
    """The Go proxy can have a release later than the registry of the images."""
    found = re.search(rf"^\s*{re.escape(path)} v(\d+\.\d+)\.(\d+)$", go_mod(CONTROLLERS), re.M)
    assert found is not None
    minor, _, patch = image.rpartition(":v")[2].rpartition(".")
    assert minor == found[1]
    assert int(patch) >= int(found[2])


def test_the_staging_modules_belong_to_the_kubernetes_release():
    """k8s.io/kubernetes 1.36.4 is built from k8s.io/api 0.36.4, and so on."""
    replaced = re.findall(r"^\t(k8s\.io/\S+) => \1 v(\S+)$", go_mod(CONTROL_PLANE), re.M)

    assert {version for _, version in replaced} == {f"0{pins.KUBERNETES_VERSION[1:]}"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_builds_with_the_oldest_go_that_is_asked_for(module: str) -> None:
    found = re.search(r"^go (\d+)\.(\d+)", go_mod(module), re.M)

    assert found is not None
    minimum = tuple(int(part) for part in pins.GO_MINIMUM_VERSION.split(".")[:2])
    assert (int(found[1]), int(found[2])) <= minimum


def test_the_engine_is_of_the_version_of_the_sdk() -> None:
    assert lock.locked(lock.PROGRAM.path)["pulumi"] == pins.PULUMI_VERSION
