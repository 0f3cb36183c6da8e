"""Digests of images, as far as public sources say them.

A tag can be moved to other content; a digest cannot. Container runtimes accept both in one name,
and pull the digest: https://kubernetes.io/docs/concepts/containers/images/#image-names
The digests are those of indexes, which have an image for each architecture. `docs/security.md`
lists the images without one.
"""

from __future__ import annotations

from collections.abc import Mapping

DIGESTS: Mapping[str, str] = {
    # Of the index, with that of its image for amd64: public manifests of several projects, and the
    # `Image ID` that containerd shows for the tag.
    "nvcr.io/nvidia/k8s-device-plugin:v0.20.0": (
        "sha256:a61ba9fd8efb82f3a79f877f7580e02c1e8e7593f62473644bc9c79e315c3312"
    ),
    # Of the index, with those of its images for amd64 and the `imageID` that Kubernetes shows.
    "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.20.0": (
        "sha256:42cfe3723a5f058171c627537fb57a3ea0f26e4380fa18555a95cb1a1b4cfc5b"
    ),
}
"""Digests by the image with its tag: a new tag has none until somebody adds it."""


def by_content(image: str) -> str:
    """Return an image with its digest, or with its tag alone if no digest is known."""
    digest = DIGESTS.get(image)
    return image if digest is None else f"{image}@{digest}"
