"""Values in the scripts' templates."""

import re
import shutil
import subprocess

import pytest

from trainyard.jobs.slurm.directory import SCRIPTS, exports, render_script


def test_a_value_that_is_not_given_is_no_empty_word():
    with pytest.raises(KeyError, match="placement"):
        render_script("nccom-tests/header.sbatch", {"job": "nccom-tests"})


def test_every_template_is_of_a_job_of_run_or_shared_by_several():
    assert {path.name for path in SCRIPTS.iterdir()} == {
        "bert-pretraining",
        "dcgm-diag",
        "nccl-tests",
        "nccom-tests",
        "neuron",
        "training",
    }


@pytest.mark.parametrize("path", sorted(SCRIPTS.rglob("*.*")), ids=lambda path: path.name)
def test_arrays_of_the_shell_are_no_values(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\[@[a-z]", text)


def test_values_reach_the_shell_as_they_are():
    bash = shutil.which("bash")
    assert bash is not None
    value = "a b'c$d\"e`f"
    script = f'{exports({"VALUE": value, "COUNT": 2})}\nprintf \'%s|%s\' "$VALUE" "$COUNT"'
    said = subprocess.run([bash, "-c", script], text=True, capture_output=True, check=True)
    assert said.stdout == f"{value}|2"
