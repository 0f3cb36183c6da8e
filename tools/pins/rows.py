"""The product of each version constant in the project, and where to find its newest version."""

from collections.abc import Mapping
from dataclasses import dataclass

from tools.pins import (
    EksVersions,
    GitHead,
    GitTags,
    GoModule,
    ImageTags,
    PyPI,
    PythonReleases,
    Source,
    Unasked,
)

_CATALOG = "components/catalog"
GITHUB = "https://github.com"


@dataclass(frozen=True, kw_only=True)
class Row:
    """The product of a place. The fields are those of a pin."""

    name: str
    source: Source
    series: int = 0
    floor: bool = False
    support: str | None = None
    """Product of ``tools.pins.support``; the release is part of the version."""


PYTHON = Row(name="python", source=PythonReleases(), floor=True, support="Python")
KUBERNETES = Row(
    name="k8s.io/kubernetes", source=GoModule(path="k8s.io/kubernetes"), series=2, support="EKS"
)
ETCD = Row(
    name="go.etcd.io/etcd/server/v3", source=GoModule(path="go.etcd.io/etcd/server/v3"), series=2
)
NO_ROW = Unasked(reason="tools/pins/rows.py has no row for it; add one")

_NEURON_PACKAGES = Unasked(
    reason="the versions of a release belong together; read src/helperscripts/n2-manifest.json in "
    f"{GITHUB}/aws-neuron/aws-neuron-sdk"
)
_DOCKER_PACKAGES = Unasked(
    reason="the list must have it for each Ubuntu; read "
    "https://download.docker.com/linux/ubuntu/dists/noble/stable/binary-amd64/Packages"
)

CONSTANTS: Mapping[str, Row] = {
    "sandbox/engine/pins.py:PULUMI_VERSION": Row(name="pulumi", source=PyPI(project="pulumi")),
    "sandbox/engine/pins.py:KUBERNETES_VERSION": KUBERNETES,
    "sandbox/engine/pins.py:ETCD_VERSION": ETCD,
    "sandbox/engine/pins.py:GO_MINIMUM_VERSION": Row(
        name="go", source=GoModule(path="go"), floor=True, support="Go"
    ),
    "tools/lock/__init__.py:UV_VERSION": Row(name="uv", source=PyPI(project="uv")),
    "sandbox/providers/eks/cluster.py:AWS_VERSION": Row(
        name="pulumi-aws", source=PyPI(project="pulumi-aws")
    ),
    "sandbox/providers/kubernetes/servicer.py:VERSION": Row(
        name="pulumi-kubernetes", source=PyPI(project="pulumi-kubernetes")
    ),
    "sandbox/providers/eks/cluster.py:KUBERNETES_VERSION": Row(
        name="pulumi-kubernetes", source=PyPI(project="pulumi-kubernetes")
    ),
    "sandbox/providers/eks/provider.py:VERSION": Row(
        name="pulumi-eks", source=PyPI(project="pulumi-eks")
    ),
    f"{_CATALOG}/versions.py:PARALLELCLUSTER_VERSION": Row(
        name="aws-parallelcluster", source=PyPI(project="aws-parallelcluster")
    ),
    "sandbox/account/load.py:PARALLELCLUSTER_VERSION": Row(
        name="aws-parallelcluster", source=PyPI(project="aws-parallelcluster")
    ),
    f"{_CATALOG}/versions.py:DEFAULT_KUBERNETES_VERSION": Row(
        name="eks-default", source=EksVersions(), support="EKS"
    ),
    f"{_CATALOG}/efa_device_plugin.py:EFA_DEVICE_PLUGIN_CHART_VERSION": Row(
        name="efa-device-plugin-chart",
        source=Unasked(
            reason=f"the tags of {GITHUB}/aws/eks-charts are not the chart's versions; read "
            "stable/aws-efa-k8s-device-plugin/Chart.yaml there"
        ),
    ),
    f"{_CATALOG}/efa_device_plugin.py:EFA_DEVICE_PLUGIN_VERSION": Row(
        name="efa-device-plugin",
        source=Unasked(
            reason="EKS's private registries do not list their tags to everybody; read "
            f"stable/aws-efa-k8s-device-plugin/values.yaml in {GITHUB}/aws/eks-charts"
        ),
    ),
    f"{_CATALOG}/neuron.py:NEURON_CHART_VERSION": Row(
        name="neuron-chart", source=ImageTags(repository="public.ecr.aws/neuron/neuron-helm-chart")
    ),
    f"{_CATALOG}/neuron.py:NEURON_VERSION": Row(
        name="neuron-device-plugin",
        source=ImageTags(repository="public.ecr.aws/neuron/neuron-device-plugin"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_DRIVER_VERSION": Row(
        name="node/neuron-driver", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_COLLECTIVES_VERSION": Row(
        name="node/neuron-collectives", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_RUNTIME_VERSION": Row(
        name="node/neuron-runtime", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_TOOLS_VERSION": Row(
        name="node/neuron-tools", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:DOCKER_VERSION": Row(
        name="node/docker", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:CONTAINERD_VERSION": Row(
        name="node/containerd", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:BUILDX_VERSION": Row(
        name="node/docker-buildx", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:COMPOSE_VERSION": Row(
        name="node/docker-compose", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NVIDIA_CONTAINER_TOOLKIT_VERSION": Row(
        name="node/nvidia-container-toolkit",
        source=GitTags(url=f"{GITHUB}/NVIDIA/nvidia-container-toolkit"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_VERSION": Row(
        name="node/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_COMMIT": Row(
        name="node/nccl-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_NCCL_VERSION"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_OFI_NCCL_VERSION": Row(
        name="node/aws-ofi-nccl", source=GitTags(url=f"{GITHUB}/aws/aws-ofi-nccl")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_OFI_NCCL_COMMIT": Row(
        name="node/aws-ofi-nccl-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_OFI_NCCL_VERSION"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_TESTS_VERSION": Row(
        name="node/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_TESTS_COMMIT": Row(
        name="node/nccl-tests-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_NCCL_TESTS_VERSION"),
    ),
    "components/storage/storage_plan.py:LUSTRE_VERSION": Row(
        name="fsx-lustre",
        source=Unasked(
            reason="no call of FSx lists Lustre versions; read FileSystemTypeVersion in "
            "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
        ),
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_VERSION": Row(
        name="slurm/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_COMMIT": Row(
        name="slurm/nccl-commit", source=Unasked(reason="it is the commit of the tag NCCL_VERSION")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_TESTS_VERSION": Row(
        name="slurm/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_TESTS_COMMIT": Row(
        name="slurm/nccl-tests-commit",
        source=Unasked(reason="it is the commit of the tag NCCL_TESTS_VERSION"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:SAMPLES_COMMIT": Row(
        name="slurm/neuron-samples", source=GitHead(url=f"{GITHUB}/aws-neuron/aws-neuron-samples")
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:NEURONX_CC_VERSION": Row(
        name="slurm/neuronx-cc",
        source=Unasked(reason="it is the last one that Neuron gives for Amazon Linux 2023"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:TORCH_NEURONX_VERSION": Row(
        name="slurm/torch-neuronx",
        source=Unasked(reason="it is the last one that Neuron gives for Amazon Linux 2023"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:PYTHON_VERSION": Row(
        name="slurm/python", source=PythonReleases(), floor=True, support="Python"
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:UV_VERSION": Row(
        name="slurm/uv", source=PyPI(project="uv")
    ),
    "containers/nccl-tests/Dockerfile:EFA_INSTALLER_VERSION": Row(
        name="nccl-tests-image/efa-installer",
        source=Unasked(
            reason="no client lists the releases of the EFA installer; read "
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-changelog.html"
        ),
    ),
    "containers/nccl-tests/Dockerfile:AWS_OFI_NCCL_VERSION": Row(
        name="nccl-tests-image/aws-ofi-nccl",
        source=Unasked(reason="the EFA installer brings it, in the version that its notes name"),
    ),
    "containers/nccl-tests/Dockerfile:NCCL_VERSION": Row(
        name="nccl-tests-image/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    "containers/nccl-tests/Dockerfile:NCCL_TESTS_VERSION": Row(
        name="nccl-tests-image/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
}
"""The row of each constant, by ``file:NAME``. Places with the same name form one pin."""

NOT_PINS: Mapping[str, str] = {
    "src/trainyard/findings/sarif.py:VERSION": "version of a file format",
    "policies/pack/servicer.py:_VERSION": "version of the policy pack itself",
    "sandbox/aws/fsx/lustre.py:DEFAULT_VERSION": "what FSx does where nothing is asked for",
}
"""Constants with a version that cannot be raised, and what they are."""

SETTINGS: Mapping[str, Row] = {
    "python-version": Row(name="ci/python", source=PythonReleases(), floor=True, support="Python"),
    "runs-on": Row(
        name="ci/runner",
        source=Unasked(
            reason=f"no client lists GitHub's runners; read {GITHUB}/actions/runner-images"
        ),
    ),
}
"""Settings of the CI workflow."""
