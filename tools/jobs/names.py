"""Names of the jobs of each architecture."""

from components.catalog.collective_tests import TESTS_BY_MAKER, JobTest

BERT_PRETRAINING = "bert-pretraining"
NCCL_PAIRS = "nccl-pairs"
EKS_JOBS = ("nccl-tests", NCCL_PAIRS, "nccom-tests", "efa-smoke")
SLURM_JOBS = ("nccl-tests", NCCL_PAIRS, "nccom-tests", BERT_PRETRAINING)
BATCH_JOBS: tuple[JobTest, ...] = tuple(TESTS_BY_MAKER.values())
