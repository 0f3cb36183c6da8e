from hypothesis import given
from hypothesis import strategies as st

from trainyard.topology.drawing import ELLIPSIS, cut, text_width, wrapped

TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), max_size=60)
WIDTHS = st.floats(min_value=20, max_value=300)


def test_the_width_of_a_text_is_that_of_the_metrics():
    assert (
        text_width("p5.48xlarge", 12)
        == 12 * (3 * 556 + 556 + 278 + 500 + 222 + 556 + 333 + 556 * 2) / 1000
    )
    assert text_width("W", 10, bold=True) == 9.44


def test_a_character_without_metrics_counts_as_the_widest():
    assert text_width("\u4e00", 1000) >= max(text_width(chr(each), 1000) for each in range(32, 127))


@given(text=TEXTS, width=WIDTHS)
def test_a_cut_text_fits(text, width):
    assert text_width(cut(text, width, 12), 12) <= max(width, text_width(ELLIPSIS, 12))


def test_both_ends_of_a_cut_text_stay():
    text = cut(
        "arn:aws:ec2:us-west-2:123456789012:capacity-reservation/cr-0123456789abcdef0", 200, 12
    )
    assert text.startswith("arn:aws:ec2")
    assert text.endswith("def0")
    assert ELLIPSIS in text


@given(text=TEXTS, width=WIDTHS)
def test_wrapped_lines_fit_and_have_all_words_that_fit(text, width):
    lines = [*wrapped(text, width, 12)]
    assert all(text_width(line, 12) <= width for line in lines)
    if all(text_width(word, 12) <= width for word in text.split()):
        assert " ".join(lines).split() == text.split()
