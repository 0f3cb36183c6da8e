"""`picture`: files, formats and refusals. What a picture shows is in tests/trainyard/topology."""

import xml.etree.ElementTree as ET

from tests.support.eks import p5


def test_the_picture_is_printed_without_an_account(trainyard, stack_file):
    result = trainyard("picture", "p5-cb", "--stack-file", stack_file(p5()))
    assert result.exit_code == 0
    assert ET.fromstring(result.stdout).attrib["aria-label"] == "p5-cb"


def test_the_picture_is_written_to_a_file(trainyard, stack_file, tmp_path):
    path = tmp_path / "a.svg"
    result = trainyard("picture", "p5-cb", "--stack-file", stack_file(p5()), "-o", str(path))
    assert (result.exit_code, result.stdout) == (0, "")
    assert ET.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")


def test_another_format_is_refused(trainyard, tmp_path):
    path = tmp_path / "a.png"
    result = trainyard("picture", "p5-cb", "--output", str(path))
    assert result.exit_code == 2
    assert "must end in .svg or .html" in result.stderr
    assert not path.exists()


def test_an_invalid_stack_file_is_refused_with_its_problems(trainyard, stack_file, tmp_path):
    path = tmp_path / "a.html"
    wrong = stack_file(p5(purchase_option="nothing"))
    result = trainyard("picture", "p5-cb", "--stack-file", wrong, "-o", str(path))
    assert result.exit_code == 2
    assert "purchase_option" in result.stderr
    assert not path.exists()
