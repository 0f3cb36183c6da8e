"""Every row of the references of Batch and of its networks has a verdict on the page.

`docs/parity-batch.md` is written with `pytest tests/parity --update-goldens`.
"""

from __future__ import annotations

from tests.parity import (
    test_batch_defects,
    test_batch_limits,
    test_batch_p4d,
    test_batch_p4d_jobs,
    test_batch_p5,
    test_batch_text,
    test_batch_trainium,
    test_vpc_multi_az,
    test_vpc_one_az,
)
from tests.support.parity import Page
from tests.support.stacks import BATCH_STACKS, NETWORK_STACKS, ROOT

DOCUMENT = ROOT / "docs" / "parity-batch.md"


def rows(prefix: str, *ranges: range) -> list[str]:
    return [f"{prefix}-{number:02}" for each in ranges for number in each]


GROUPS = {
    "The VPC in several zones": (test_vpc_multi_az, rows("VPCM", range(1, 24))),
    "The VPC in one zone": (test_vpc_one_az, rows("VPC1", range(1, 17))),
    "Batch with p4d: nodes": (test_batch_p4d, rows("BAT", range(1, 19))),
    "Batch with p4d: queue, images and jobs": (test_batch_p4d_jobs, rows("BAT", range(19, 24))),
    "Batch with p5": (test_batch_p5, rows("BAT5", range(1, 13))),
    "Batch with Trainium": (test_batch_trainium, rows("TRN", range(1, 4))),
    "What only their text says": (test_batch_text, rows("PR", range(50, 54))),
    "Limits of Batch": (test_batch_limits, ["G1", "G2", "G3", "G4"]),
    "Defects": (test_batch_defects, rows("DF", range(1, 5), range(10, 13))),
}
INTRODUCTION = """\
# The AWS Batch and VPC references, row by row

The stacks `batch-*` and `vpc-*` are the AWS Batch architecture of
[awsome-distributed-training](https://github.com/awslabs/awsome-distributed-training), two templates
as of October 2024 (commit `0fbac547`), the two VPC templates under it, as of January 2024 (commit
`e1b98dfd`), and the Trainium example for Batch of
[aws-neuron-samples](https://github.com/aws-neuron/aws-neuron-samples). This page has a
verdict for each of their fields: *same*, *better* or *not applicable*, the last two with a reason.
The test in the last column (in `tests/parity`) asserts each *same* and *better*, value by value, on
the registered resources. G1 to G4 are limits that AWS documents for Batch and that no template
enforces.

`pytest tests/parity --update-goldens` generates this page from those tests.
"""
STACKS = """\
| Reference | Stack |
|---|---|
| `1.vpc-multi-az.yaml` | `vpc-multi-az` |
| `2.vpc-one-az.yaml` | `vpc-one-az` |
| `0.aws-batch-distributed-training.yaml` | `batch-p4d` |
| `0.aws-batch-distributed-training-p5.yaml` | `batch-p5` |
| the Trainium example | `batch-trn1` |
"""
PAGE = Page(introduction=INTRODUCTION, stacks=STACKS, modules=GROUPS)


def test_every_row_of_the_references_has_one_verdict():
    """VPCM-*, VPC1-*, BAT-*, BAT5-*, PR-50 to PR-53, DF-01 to 04, DF-10 to 12, TRN-*, G1 to G4."""
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
    assert named <= {*BATCH_STACKS, *NETWORK_STACKS}


def test_the_document_is_current(request):
    if request.config.getoption("--update-goldens"):
        DOCUMENT.write_text(PAGE.text(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == PAGE.text()
