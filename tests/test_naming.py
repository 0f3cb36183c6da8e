import pytest

from components.naming import excess_length


@pytest.mark.parametrize(
    ("length", "excess"),
    [pytest.param(56, 0, id="just-fits"), pytest.param(57, 1, id="one-too-long")],
)
def test_the_suffix_that_pulumi_appends_counts(length, excess):
    assert excess_length("x" * length, 64) == excess
