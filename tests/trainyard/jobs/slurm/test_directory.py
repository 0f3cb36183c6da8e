"""Writing a job's directory without overwriting files of the user."""

import os

import pytest

from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.directory import JobDirectory, write_directory

JOB = JobDirectory(
    files={"run.sbatch": "#!/bin/bash\ntrue\n", "settings.sh": "# sourced\n"},
    submit=("sbatch run.sbatch",),
    results=(),
)


@pytest.mark.parametrize("folder", ["new", "new/deeper"])
def test_makes_the_directory(tmp_path, folder):
    write_directory(JOB, tmp_path / folder, force=False)
    assert sorted(p.name for p in (tmp_path / folder).iterdir()) == ["run.sbatch", "settings.sh"]


def test_programs_can_be_run_and_what_they_read_cannot(tmp_path):
    write_directory(JOB, tmp_path, force=False)
    assert os.access(tmp_path / "run.sbatch", os.X_OK)
    assert (tmp_path / "settings.sh").stat().st_mode & 0o111 == 0


def test_refuses_a_directory_that_holds_files(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(JobError, match="--force"):
        write_directory(JOB, tmp_path, force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_force_replaces_its_own_files_and_leaves_the_others(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "run.sbatch").write_text("old")
    write_directory(JOB, tmp_path, force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "run.sbatch").read_text() == JOB.files["run.sbatch"]


@pytest.mark.parametrize("force", [False, True])
def test_refuses_a_file_in_its_place(tmp_path, force):
    (tmp_path / "job").write_text("")
    with pytest.raises(JobError, match="is a file"):
        write_directory(JOB, tmp_path / "job", force=force)
