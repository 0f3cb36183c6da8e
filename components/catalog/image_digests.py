"""Digests of images, as far as public sources say them.

A tag can be moved to other content; a digest cannot. Container runtimes accept both in one name,
and pull the digest: https://kubernetes.io/docs/concepts/containers/images/#image-names
The digests are those of indexes, which have an image for each architecture. `docs/security.md`
lists the images without one.
"""

from __future__ import annotations

from collections.abc import Mapping

DIGESTS: Mapping[str, str] = {
    # `image` with tag and digest in a DaemonSet; the `Image ID` that `kubectl describe` shows for
    # the tag; and a script that pulls it as the index, and names its manifest for linux/amd64,
    # sha256:1de09dda8d1c179fe84e280f28a48a75c9a1a529d90eefcee1f80c012ac11640. No document of
    # NVIDIA names it.
    "nvcr.io/nvidia/k8s-device-plugin:v0.20.0": (
        "sha256:a61ba9fd8efb82f3a79f877f7580e02c1e8e7593f62473644bc9c79e315c3312"
    ),
    # Two reviews of images, which list it as the index with its manifest for linux/amd64,
    # sha256:01171220c7c059afc85034ffe687bfe7249e41c0cc46fbe9a5128503ceee3016; `image` in manifests
    # of several projects; and the `imageID` that Kubernetes shows for the tag.
    "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.20.0": (
        "sha256:42cfe3723a5f058171c627537fb57a3ea0f26e4380fa18555a95cb1a1b4cfc5b"
    ),
}
"""Digests by the image with its tag: a new tag has none until somebody adds it."""


def by_content(image: str) -> str:
    """Return an image with its digest, or with its tag alone if no digest is known."""
    digest = DIGESTS.get(image)
    return image if digest is None else f"{image}@{digest}"
