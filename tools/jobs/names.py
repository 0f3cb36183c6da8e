"""Names of the jobs of each architecture."""

from components.catalog.collective_tests import TESTS_BY_MAKER, JobTest

BERT_PRETRAINING = "bert-pretraining"
DCGM_DIAG = "dcgm-diag"
NCCL_PAIRS = "nccl-pairs"
EKS_JOBS = ("nccl-tests", NCCL_PAIRS, "nccom-tests", "efa-smoke", DCGM_DIAG)
SLURM_JOBS = ("nccl-tests", NCCL_PAIRS, "nccom-tests", BERT_PRETRAINING, DCGM_DIAG)
DCGM_LEVEL = 2
"""Default level of the diagnostics: the one that AWS ParallelCluster uses for its health checks."""
BATCH_JOBS: tuple[JobTest, ...] = tuple(TESTS_BY_MAKER.values())
