"""References to images are parsed as container runtimes, Enroot and Pyxis parse them.

The cases and their answers are those of
    https://github.com/distribution/reference at 0965666a, normalize_test.go
        (`ParseNormalizedNamed`) and reference_test.go (`Parse`)
    https://github.com/NVIDIA/pyxis at 10751994, README.md and tests/docker_image.bats
    https://github.com/NVIDIA/enroot at 8ea147d3, doc/cmd/import.md; src/docker.sh (`_parse_uri`)
"""

from __future__ import annotations

import pytest

from trainyard.components.batch.job_definition_plan import PINNED_IMAGES
from trainyard.components.catalog.image_references import (
    ImageFile,
    ImageReference,
    ImageReferenceError,
    in_registry,
    parsed,
)

DIGEST = "sha256:" + "f" * 64
IDENTIFIER = "1a3f5e7d9c1b3a5f7e9d1c3b5a7f9e1d3c5b7a9f1e3d5d7c9b1a3f5e7d9c1b3a"


def reference(registry: str, path: str, tag: str | None = None, digest: str | None = None):
    return ImageReference(registry=registry, path=path, tag=tag, digest=digest)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("localhost/fooo/bar", reference("localhost", "fooo/bar")),
        ("fooo/bar", reference("docker.io", "fooo/bar")),
        ("index.docker.io/fooo/bar", reference("docker.io", "fooo/bar")),
        ("ubuntu", reference("docker.io", "library/ubuntu")),
        ("docker.io/foo", reference("docker.io", "library/foo")),
        ("library/foo/bar", reference("docker.io", "library/foo/bar")),
        ("127.0.0.1:8000/privatebase", reference("127.0.0.1:8000", "privatebase")),
        ("example.com/private/moonbase", reference("example.com", "private/moonbase")),
        ("192.168.0.1:80", reference("docker.io", "library/192.168.0.1", "80")),
        ("[fc00::1]:5000/docker", reference("[fc00::1]:5000", "docker")),
        ("test:5000/repo:tag", reference("test:5000", "repo", "tag")),
        (f"test:5000/repo:tag@{DIGEST}", reference("test:5000", "repo", "tag", DIGEST)),
        (f"test:5000/repo@{DIGEST}", reference("test:5000", "repo", None, DIGEST)),
        ("lowercase:Uppercase", reference("docker.io", "library/lowercase", "Uppercase")),
        ("docker---rules/docker", reference("docker.io", "docker---rules/docker")),
        ("dock__er/docker", reference("docker.io", "dock__er/docker")),
        (f"docker.io/{IDENTIFIER}", reference("docker.io", f"library/{IDENTIFIER}")),
        (f"example.com/{'a' * 255}:tag", reference("example.com", "a" * 255, "tag")),
    ],
)
def test_a_reference_has_the_parts_of_container_runtimes(text: str, wanted: ImageReference) -> None:
    assert parsed(text) == wanted
    assert in_registry(text, starts="EKS").name == text


@pytest.mark.parametrize(
    "text",
    [
        *("https://github.com/docker/docker", "-docker", "-docker.io/docker/docker"),
        *("docker///docker", "[fc00::1]:5000", "fc00::1:5000/debian", IDENTIFIER),
        *("[fe80::1%eth0]:5000/debian", "docker-/docker", "_docker/_docker", "dock..er/docker"),
        *("dock_.er/docker", "docker/", ":justtag", f"@{DIGEST}", "aa/asdf$$^/aa", "docker/"),
        *("repo@sha256:" + "f" * 34, "validname@invaliddigest:" + "f" * 64),
        *("", f"domain/{'a' * 256}:tag", f"x:{'a' * 129}"),
    ],
)
def test_what_container_runtimes_refuse_is_refused(text: str) -> None:
    with pytest.raises(ImageReferenceError) as refused:
        parsed(text)
    assert refused.value.fix


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ghcr.io/X/y:1", "ghcr.io/x/y:1"),
        ("docker/Docker", "docker/docker"),
        ("test:5000/Uppercase/lowercase:Tag", "test:5000/uppercase/lowercase:Tag"),
        ("Foo/bar", "foo/bar"),
        (" ubuntu:22.04\n", "ubuntu:22.04"),
        ("https://nvcr.io/nvidia/pytorch:25.01-py3", "nvcr.io/nvidia/pytorch:25.01-py3"),
        ("hello-world.sqsh", "./hello-world.sqsh"),
        ("images/hello-world.sqsh", "./images/hello-world.sqsh"),
    ],
)
def test_a_slip_is_refused_with_what_was_meant(text: str, meant: str) -> None:
    with pytest.raises(ImageReferenceError) as refused:
        parsed(text)
    assert refused.value.meant == meant
    assert meant in refused.value.fix
    assert parsed(meant)


@pytest.mark.parametrize(
    ("text", "enroot", "runtimes"),
    [
        ("nvcr.io/nvidia/pytorch:21.12-py3", "nvcr.io#nvidia/pytorch:21.12-py3", None),
        ("registry.gitlab.com/a/b/c:1", "registry.gitlab.com#a/b/c:1", None),
        ("localhost:5000/a:1", "localhost:5000#a:1", None),
        ("almalinux:9", "almalinux:9", None),
        ("docker.io/library/ubuntu:24.04", "ubuntu:24.04", None),
        ("nvcr.io#nvidia/pytorch:1", "nvcr.io#nvidia/pytorch:1", "nvcr.io/nvidia/pytorch:1"),
        ("docker.io#ubuntu:24.04", "ubuntu:24.04", "docker.io/library/ubuntu:24.04"),
        (
            "docker://nvidia/cuda:11.8.0-base",
            "nvidia/cuda:11.8.0-base",
            "docker.io/nvidia/cuda:11.8.0-base",
        ),
        ("docker://gcr.io#a/b", "gcr.io#a/b", "gcr.io/a/b"),
        (f"rapidsai/devcontainers:x@{DIGEST}", f"rapidsai/devcontainers@{DIGEST}", None),
    ],
)
def test_a_registry_has_a_number_sign_for_enroot_and_a_slash_for_others(
    text: str, enroot: str, runtimes: str | None
) -> None:
    found = in_registry(text, starts="EKS")
    assert found.enroot_name == enroot
    assert found.name == (runtimes or text)


def test_a_user_of_enroot_is_for_enroot_only() -> None:
    found = parsed("$oauthtoken@nvcr.io#nvidia/pytorch:25.01-py3")
    assert isinstance(found, ImageReference)
    assert found.enroot_name == "$oauthtoken@nvcr.io#nvidia/pytorch:25.01-py3"
    with pytest.raises(ImageReferenceError, match=r"write nvcr\.io/nvidia/pytorch:25\.01-py3$"):
        in_registry("$oauthtoken@nvcr.io#nvidia/pytorch:25.01-py3", starts="EKS")


@pytest.mark.parametrize("text", ["./hello-world.sqsh", "/fsx/pytorch", "~/images/x.sqsh"])
def test_a_path_is_a_squashfs_file_that_no_registry_has(text: str) -> None:
    assert parsed(text) == ImageFile(text)
    with pytest.raises(ImageReferenceError, match="which only Enroot on a Slurm cluster starts"):
        in_registry(text, starts="EKS")


@pytest.mark.parametrize(
    "text", ["../x.sqsh", "/fsx/", "~other/x.sqsh", ".", "x.tar", "/fsx/x.sif"]
)
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ImageReferenceError, match="squashfs file"):
        parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        *("dockerd://x:y", "podman://IMAGE:1", "docker-daemon:x:y", "containers-storage:x/y:1"),
        *(f"sha256:{IDENTIFIER}", IDENTIFIER[:12]),
    ],
)
def test_an_image_of_a_daemon_is_refused(text: str) -> None:
    with pytest.raises(ImageReferenceError, match="daemon of one machine") as refused:
        parsed(text)
    assert "push the image to a registry" in refused.value.fix


def test_schemes_in_schemes_are_refused_at_once() -> None:
    with pytest.raises(ImageReferenceError, match="is a URL"):
        parsed("docker://" * 20_000 + "ubuntu")


@pytest.mark.parametrize("image", sorted(PINNED_IMAGES.values()))
def test_the_pinned_images_are_in_registries(image: str) -> None:
    assert in_registry(image, starts="AWS Batch").reference != "latest"
