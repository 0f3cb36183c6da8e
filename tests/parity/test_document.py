"""Every row has a verdict in the document, and every verdict but `not applicable` has a test.

`docs/parity-eks.md` is written with `pytest tests/parity --update-goldens`.
"""

from __future__ import annotations

from tests.parity import (
    test_capacity_block_template,
    test_defects,
    test_eksctl_implied,
    test_eksctl_manifests,
)
from tests.support.parity import Page
from tests.support.stacks import ROOT

DOCUMENT = ROOT / "docs" / "parity-eks.md"
GROUPS = {
    "The eksctl manifests": (test_eksctl_manifests, [f"EKS-{n:02}" for n in range(1, 17)]),
    "What eksctl makes behind them": (test_eksctl_implied, [f"EKX-{n:02}" for n in range(1, 11)]),
    "The node group for Capacity Blocks": (
        test_capacity_block_template,
        [f"EKN-{n:02}" for n in range(1, 17)],
    ),
    "Defects, ported as they were meant": (test_defects, ["DF-13", "DF-14", "DF-15"]),
}
INTRODUCTION = """\
# The EKS reference architectures, row by row

The stacks `eks-*` and `p5-cb` are the EKS architectures of
[awsome-distributed-training](https://github.com/awslabs/awsome-distributed-training), six eksctl
manifests and one CloudFormation template as of May 2024 (commit `c9226968`). This page has a
verdict for each of their fields: *same*, *better* or *not applicable*, the last two with a reason.
The test in the last column (in `tests/parity`) asserts each *same* and *better*, value by value, on
the registered resources.

`pytest tests/parity --update-goldens` generates this page from those tests.
"""
STACKS = """\
| Reference | Stack |
|---|---|
| `eks-g4dn.yaml` | `eks-g4dn` |
| `eks-g4dn-vpc.yaml` | `eks-g4dn-vpc` |
| `eks-p4de-odcr.yaml` | `eks-p4de-odcr` |
| `eks-p4de-odcr-vpc.yaml` | `eks-p4de-odcr-vpc` |
| `eks-p5-odcr-vpc.yaml`, in the text `eks-p5-odcr.yaml` | `eks-p5-odcr` |
| `eks-p5-capacity-block.yaml` with `amazon-eks-nodegroup.yaml` | `p5-cb`, `p5-cb-managed` |
| "you can replace them by … trn1" | `eks-trn1` |
"""


PAGE = Page(introduction=INTRODUCTION, stacks=STACKS, modules=GROUPS)


def test_every_row_of_the_reference_has_one_verdict():
    """EKS-01 to EKS-16, EKX-01 to EKX-10, EKN-01 to EKN-16, DF-13 to DF-15."""
    for title, rows in PAGE.groups().items():
        assert [row.id for row in rows] == GROUPS[title][1]


def test_what_is_better_or_not_applicable_says_why():
    rows = [row for group in PAGE.groups().values() for row in group]
    assert not [row.id for row in rows if row.verdict != "same" and not row.why]


def test_what_is_same_or_better_is_proved_by_a_test():
    """The decorator is the row, so that only a row without a test can lack one."""
    for title, rows in PAGE.groups().items():
        tests = {name for name in vars(GROUPS[title][0]) if name.startswith("test_")}
        for row in rows:
            assert (row.proof in tests) == (row.verdict != "not applicable"), row.id


def test_the_document_is_current(request):
    if request.config.getoption("--update-goldens"):
        DOCUMENT.write_text(PAGE.text(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == PAGE.text()
