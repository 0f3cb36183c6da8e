"""The versions of the engine and of the Kubernetes programs, and the URLs of their releases.

Everything that an upgrade changes is here or in the ``go.mod`` of the module that builds the
same version; ``tests/sandbox/engine/test_pins.py`` verifies that they agree.
"""

from collections.abc import Mapping

PULUMI_VERSION = "3.260.0"
"""Version of the engine and of the Python SDK: the same minor, as Pulumi requires.

The newest one on PyPI whose engine (`pkg/v3`) the Go module proxy serves; 3.270.0 is not one.
"""

KUBERNETES_VERSION = "1.36.4"
"""Version of the sandbox's control planes: a patch release of the stacks' default version.

The newest one whose modules the Go module proxy serves with their checksums; 1.36.5 is not one.
"""

ETCD_VERSION = "3.6.8"
"""Version of the control planes' etcd: the one that Kubernetes 1.36 is built with.

Source: `go.mod` of k8s.io/kubernetes.
"""

GO_MINIMUM_VERSION = "1.26.6"
"""Oldest Go that builds the modules here (the ``go`` line of their ``go.mod``)."""

PULUMI_RELEASE_URL = (
    f"https://get.pulumi.com/releases/sdk/pulumi-v{PULUMI_VERSION}-{{platform}}.tar.gz"
)
"""Official release of the CLI with its language hosts, one archive per platform.

Source: https://www.pulumi.com/docs/install/versions/
"""

PULUMI_CHECKSUMS_URL = (
    f"https://github.com/pulumi/pulumi/releases/download/v{PULUMI_VERSION}"
    f"/pulumi-{PULUMI_VERSION}-checksums.txt"
)
"""SHA-256 of every archive of the release, from the release's signing job.

Source: https://github.com/pulumi/pulumi/blob/master/.github/workflows/sign.yml
"""

PULUMI_PLUGINS_URL = "https://get.pulumi.com/releases/plugins"
"""Official releases of provider plugins, one archive per platform.

Source: `blobs` in https://github.com/pulumi/pulumi-aws/blob/master/.goreleaser.yml
"""

KUBERNETES_RELEASE_URL = (
    f"https://dl.k8s.io/v{KUBERNETES_VERSION}/bin/linux/{{architecture}}/{{program}}"
)
"""One program of a Kubernetes release; the same address with ``.sha256`` is its checksum.

Source: https://kubernetes.io/releases/download/#binaries
"""

ETCD_RELEASE_URL = f"https://github.com/etcd-io/etcd/releases/download/v{ETCD_VERSION}/{{file}}"
"""A file of an etcd release: an archive, or ``SHA256SUMS`` of all of them.

Source: https://etcd.io/docs/v3.6/install/
"""

RELEASE_CHECKSUMS: Mapping[str, str] = {
    "https://dl.k8s.io/v1.36.4/bin/linux/amd64/kubectl": (
        "8b8f088da2dab964f853b38464033b1be15ede2839eca751482357c45abdd05a"
    ),
    "https://dl.k8s.io/v1.36.4/bin/linux/arm64/kubectl": (
        "0ecf44450ee6063bf19dd166a103ee6df4a9034455c2abce626e6eea657d73fb"
    ),
}
"""SHA-256 of released files by their addresses, as far as public sources say it that do not lie
beside the file. The checksum beside the file is not asked for then, so neither the publisher's
host nor a mirror can replace both.

Source: public repositories that verify their own download with the same values. The other files
here have no such source: `docs/security.md` lists them.
"""

PULUMI_FILES = (
    "pulumi",
    "pulumi-language-python",
    "pulumi-language-python-exec",
    "pulumi-resource-pulumi-python",
)
"""Files that the engine requires for Python programs, policy packs and dynamic resources.

The release also has hosts for five other languages, which are not extracted.
"""

KUBERNETES_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
"""Programs that the Kubernetes release publishes."""
