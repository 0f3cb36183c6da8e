"""What the program pins and knows of AWS Neuron: Trainium and Inferentia on Kubernetes.

Read in November 2026:

- Images and instance types: `values.yaml` of the chart `neuron-helm-chart` 1.10.0,
  https://github.com/aws-neuron/neuron-helm-charts, of Neuron SDK 2.32.0.
- NeuronCores a device: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/
  (NeuronCore-v2 of Trainium: 2), and for Trainium2 the logical NeuronCores of the default
  configuration (LNC 2: 4 of its 8 physical ones),
  https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-features/logical-neuroncore-config.html
- Sizes that the scheduler extension grants:
  https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html
- Container image: https://github.com/aws-neuron/deep-learning-containers
"""

from __future__ import annotations

NEURON_CHART_VERSION = "1.10.0"
"""Chart whose manifests and list of instance types the program follows."""
NEURON_VERSION = "2.32.0.0"
"""Of the device plugin and the scheduler extension, which belong together."""
NEURON_DEVICE_PLUGIN_IMAGE = f"public.ecr.aws/neuron/neuron-device-plugin:{NEURON_VERSION}"
NEURON_SCHEDULER_IMAGE = f"public.ecr.aws/neuron/neuron-scheduler:{NEURON_VERSION}"

NEURON_SCHEDULER_NAME = "my-scheduler"
"""What pods name as `schedulerName`; the chart's, and the name in all examples of Neuron."""

NEURON_DEVICE = "aws.amazon.com/neuron"
"""Whole devices, as Kubernetes counts them."""
NEURON_CORE = "aws.amazon.com/neuroncore"
"""Single NeuronCores of the same devices."""

NEURON_PLUGIN_INSTANCE_TYPES = (
    "trn1.2xlarge",
    "trn1.32xlarge",
    "trn1n.32xlarge",
    "trn2.3xlarge",
    "trn2.48xlarge",
    "trn2u.48xlarge",
    "trn3.48xlarge",
    "trn3n.48xlarge",
    "trn3en.24xlarge",
    "trn3s-es.48xlarge",
    "inf1.xlarge",
    "inf1.2xlarge",
    "inf1.6xlarge",
    "inf1.24xlarge",
    "inf2.xlarge",
    "inf2.8xlarge",
    "inf2.24xlarge",
    "inf2.48xlarge",
)
"""`neuronInstances` of the chart, in its order, without the types of SageMaker HyperPod (`ml.`)."""

_CORES_PER_DEVICE = {"Trainium": 2, "Trainium2": 4}

NCCOM_TEST_IMAGE = (
    "public.ecr.aws/neuron/jax-training-neuronx:0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04"
)
"""Image of the job that tests Trainium and EFA: the training container of the same Neuron SDK,
with `nccom-test` (aws-neuronx-tools), the compiler that it needs, Open MPI and an SSH server."""


def neuron_cores(model: str, devices: int) -> int:
    """Return how many NeuronCores a node's devices of one model have.

    Raises:
        KeyError: no number is known for the model.
    """
    return _CORES_PER_DEVICE[model] * devices
