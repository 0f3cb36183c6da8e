"""Pinned versions and facts of AWS Neuron: Trainium and Inferentia on Kubernetes.

Read in November 2026:

- Images and instance types: `values.yaml` of the chart `neuron-helm-chart` 1.10.0,
  https://github.com/aws-neuron/neuron-helm-charts, of Neuron SDK 2.32.0.
- NeuronCores per device: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/
  (NeuronCore-v1 of Inferentia: 4; NeuronCore-v2 of Inferentia2 and Trainium: 2), and for
  Trainium2 the logical NeuronCores of the default configuration (LNC 2: 4 of its 8 physical ones),
  https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-features/logical-neuroncore-config.html
- Allocation sizes of the scheduler extension:
  https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html
- Container image: https://github.com/aws-neuron/deep-learning-containers at 2be9ed1, README.md
"""

from __future__ import annotations

NEURON_CHART_VERSION = "1.10.0"
"""Chart whose manifests and list of instance types the program follows."""
NEURON_VERSION = "2.32.0.0"
"""Common version of the device plugin and the scheduler extension."""
NEURON_DEVICE_PLUGIN_IMAGE = f"public.ecr.aws/neuron/neuron-device-plugin:{NEURON_VERSION}"
NEURON_SCHEDULER_IMAGE = f"public.ecr.aws/neuron/neuron-scheduler:{NEURON_VERSION}"

NEURON_SCHEDULER_NAME = "my-scheduler"
"""`schedulerName` of pods; the name in the chart and in all Neuron examples."""

NEURON_DEVICE = "aws.amazon.com/neuron"
"""Kubernetes resource for whole devices."""
NEURON_CORE = "aws.amazon.com/neuroncore"
"""Kubernetes resource for single NeuronCores of the same devices."""

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

_CORES_PER_DEVICE = {"Inferentia": 4, "Inferentia2": 2, "Trainium": 2, "Trainium2": 4}

NCCOM_TEST_IMAGE = (
    "public.ecr.aws/neuron/jax-training-neuronx:0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04"
)
"""Image of the test job for Trainium and EFA: the training container of the same Neuron SDK, with
`nccom-test` (aws-neuronx-tools), its compiler, Open MPI and an SSH server."""


def neuron_cores(model: str, devices: int) -> int:
    """Return the number of NeuronCores of a number of devices.

    Raises:
        KeyError: the number is unknown for the model.
    """
    return _CORES_PER_DEVICE[model] * devices
