"""Every row of the ParallelCluster references has a verdict in the document.

`docs/parity-parallelcluster.md` is written with `pytest tests/parity --update-goldens`.
"""

from __future__ import annotations

from tests.parity import (
    test_parallelcluster_templates,
    test_parallelcluster_text,
    test_parallelcluster_trainium,
    test_parallelcluster_trainium_text,
    test_parallelcluster_variants,
)
from tests.support.parity import Page
from tests.support.stacks import PARALLELCLUSTER_STACKS, ROOT

DOCUMENT = ROOT / "docs" / "parity-parallelcluster.md"


def rows(prefix: str, *ranges: range) -> list[str]:
    return [f"{prefix}-{number:02}" for each in ranges for number in each]


GROUPS = {
    "What the five templates have in common": (
        test_parallelcluster_templates,
        rows("PC", range(1, 19)),
    ),
    "Where they differ": (
        test_parallelcluster_variants,
        [*rows("PCx", range(1, 10)), *rows("DF", range(5, 8))],
    ),
    "Trainium": (
        test_parallelcluster_trainium,
        [*rows("TRN", range(1, 10), range(20, 28)), *rows("DF", range(8, 10))],
    ),
    "What only their text says": (test_parallelcluster_text, rows("PR", range(1, 12))),
    "What only the texts on Trainium say": (
        test_parallelcluster_trainium_text,
        rows("PR", range(40, 47), range(60, 65)),
    ),
}
INTRODUCTION = """\
# The ParallelCluster reference architectures, row by row

The stacks `pc-*` are the ParallelCluster architectures of
[awsome-distributed-training](https://github.com/awslabs/awsome-distributed-training), five
templates as of January 2024 (commit `75fb7a80`), of
[aws-neuron-parallelcluster-samples](https://github.com/aws-neuron/aws-neuron-parallelcluster-samples),
two tutorials of 2022 and 2023, and of the AWS blog on Trn1 UltraClusters that refers to the second.
This page has a verdict for each of their fields: *same*, *better* or *not applicable*, the last two
with the reason. The test in the last column (in `tests/parity`) asserts each *same* and *better*,
value by value, on the registered resources and the cluster configuration.

The references use Amazon Linux 2 and Ubuntu 20.04, which ParallelCluster no longer supports. The
stacks use Amazon Linux 2023 and Ubuntu 24.04 instead.

`pytest tests/parity --update-goldens` generates this page from those tests.
"""
STACKS = """\
| Reference | Stack |
|---|---|
| `distributed-training-p4de-base.yaml`, in the text `distributed-training-gpu.yaml` | `pc-gpu` |
| `distributed-training-p4de_custom_ami.yaml` | `pc-p4de-ami` |
| `distributed-training-p4de_postinstall_scripts.yaml` | `pc-p4de-postinstall` |
| `distributed-training-p4de_batch-inference-g5_custom_ami.yaml` | `pc-p4de-g5` |
| `distributed-training-trn1_custom_ami.yaml` | `pc-trn1-ami` |
| `launch.yaml` of the Trainium tutorial | `pc-trn1` |
| `trn1-8-nodes-pcluster.md`, `trn1-16-nodes-pcluster.md`, the blog | `pc-trn1-ultracluster` |
"""
PAGE = Page(introduction=INTRODUCTION, stacks=STACKS, modules=GROUPS)


def test_every_row_of_the_references_has_one_verdict():
    """PC-*, PCx-*, TRN-*, DF-05 to DF-09, and the rows PR-* of the three texts."""
    for title, found in PAGE.groups().items():
        assert [row.id for row in found] == GROUPS[title][1]


def test_what_is_better_or_not_applicable_says_why():
    found = [row for group in PAGE.groups().values() for row in group]
    assert not [row.id for row in found if row.verdict != "same" and not row.why]


def test_what_is_same_or_better_is_proved_by_a_test():
    for title, found in PAGE.groups().items():
        tests = {name for name in vars(GROUPS[title][0]) if name.startswith("test_")}
        for row in found:
            assert (row.proof in tests) == (row.verdict != "not applicable"), row.id


def test_every_reference_has_its_stack():
    named = {row.split("`")[-2] for row in STACKS.splitlines()[2:]}
    assert named <= {*PARALLELCLUSTER_STACKS}


def test_the_document_is_current(request):
    if request.config.getoption("--update-goldens"):
        DOCUMENT.write_text(PAGE.text(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == PAGE.text()
