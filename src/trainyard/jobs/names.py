"""Names of the jobs of each architecture."""

from collections.abc import Mapping
from types import MappingProxyType

from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER, JobTest

BERT_PRETRAINING = "bert-pretraining"
DCGM_DIAG = "dcgm-diag"
NCCL_PAIRS = "nccl-pairs"
NCCOM_PAIRS = "nccom-pairs"
PAIRS_OF: Mapping[JobTest, str] = MappingProxyType(
    {"nccl-tests": NCCL_PAIRS, "nccom-tests": NCCOM_PAIRS}
)
"""The job that runs a test on pairs of nodes, in EKS and Slurm."""
EKS_JOBS = ("nccl-tests", NCCL_PAIRS, "nccom-tests", NCCOM_PAIRS, "efa-smoke", DCGM_DIAG)
SLURM_JOBS = (
    "nccl-tests",
    NCCL_PAIRS,
    "nccom-tests",
    NCCOM_PAIRS,
    BERT_PRETRAINING,
    DCGM_DIAG,
)
DCGM_LEVEL = 2
"""Default level of the diagnostics: the one that AWS ParallelCluster uses for its health checks."""
BATCH_JOBS: tuple[JobTest, ...] = tuple(TESTS_BY_MAKER.values())
