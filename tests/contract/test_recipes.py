"""The recipes of CONTRIBUTING.md suffice: each is followed in a copy of the repository.

A recipe without a needed place fails in the copy, and so does one with a place that nothing needs.
What a contributor would write is in `support/followed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.support import followed
from tests.contract.support.recipes import Followed, NotSufficientError, copy_to, recipes, undo

WRITTEN = Path(followed.__file__).parent


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy for all recipes, so that its modules are compiled once."""
    root = tmp_path_factory.mktemp("recipes") / "copy"
    copy_to(root)
    return root


@pytest.fixture
def copy(repository: Path) -> Iterator[Path]:
    """The copy as the repository is, before and after a recipe."""
    yield repository
    undo(repository)


def follow(root: Path, title: str, **chosen: str) -> Followed:
    return Followed(recipes()[title], root, chosen)


def written(name: str) -> str:
    return (WRITTEN / name).read_text(encoding="utf-8")


def test_every_recipe_with_places_is_followed() -> None:
    assert recipes().keys() == {
        *("Command", "Config key", "Instance type", "Job feature", "Policy rule", "Storage type")
    }


def test_a_policy_rule_is_a_module_and_its_test(copy: Path) -> None:
    own = follow(copy, "Policy rule", topic="storage", rule="efs_named")
    tests = ("tests/policies/storage/test_efs_named.py", "tests/contract/test_policy_pack.py")
    own.write("<rule>.py", written("policy_rule.py"))
    own.write("test_<rule>.py", written("policy_rule_cases.py"))
    with pytest.raises(NotSufficientError, match="run python -m tools"):
        own.pytest("-k", "efs_named or efs-named", tests[1])
    assert "docs/policies.md" in own.python("-m", "tools.policies")
    own.pytest("-k", "efs_named or efs-named", *tests)
    assert own.left() == set()


def test_a_command_is_a_module_a_row_and_a_test(copy: Path) -> None:
    own = follow(copy, "Command", family="stack_file", command="network")
    own.write("<command>.py", written("command.py"))
    own.write("test_<command>.py", written("command_cases.py"))
    with pytest.raises(NotSufficientError, match="No such command 'network'"):
        own.python("-m", "trainyard", "network", "dev")
    row = '\n    "network": Command("stack_file.network", "Print the kind of network of a stack."),'
    own.insert("command_line.py", row, after=r"\nCOMMANDS: [^=]+= \{")
    tests = ("test_network.py", "test_command_line.py", "test_secrets_in_outputs.py")
    own.pytest("-k", "network or reason", *(f"tests/trainyard/cli/{each}" for each in tests))
    assert own.left() == set()


def test_an_instance_type_is_in_the_answers_of_ec2_and_in_the_list_of_the_plugin(
    copy: Path, tmp_path: Path
) -> None:
    own = follow(
        copy,
        "Instance type",
    )
    text = (own.root / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    stack_file = tmp_path / "Pulumi.dev.yaml"
    stack_file.write_text(text.replace("g4dn.8xlarge", "p9.48xlarge"), encoding="utf-8")
    check = ("-m", "trainyard", "check", "dev", "--stack-file", str(stack_file))
    with pytest.raises(NotSufficientError, match="is not an instance type in the catalog"):
        own.python(*check)
    own.python(str(WRITTEN / "instance_type.py"))
    with pytest.raises(NotSufficientError, match="the EFA device plugin"):
        own.python(*check)
    own.insert("efa_plugin_instance_types.txt", "p9.48xlarge\n")
    assert own.python(*check).startswith("dev: ok")
    own.pytest("tests/catalog/test_efa_device_plugin.py", "tests/catalog/test_instance_types.py")
    assert own.left() == set()


def test_a_storage_type_is_a_model_its_settings_its_check_and_its_import(copy: Path) -> None:
    own = follow(
        copy,
        "Storage type",
    )
    own.add("tests/parallelcluster/test_ontap.py", written("storage_type_cases.py"))
    model, settings = "components/config/storage.py", "storage_settings.py"
    look_up, check, conversion = "lookup.py", "mounted_storage_check.py", "conversion.py"
    own.insert(
        model,
        written("storage_type.txt"),
        after=r"(?s)class ExistingFsxOpenZfs.+?cluster's VPC.+?\n",
    )
    own.insert(model, "    | ExistingFsxOntap\n", after=r"    \| ExistingFsxOpenZfs\n")
    own.insert(settings, ', "FsxOntap"', after=r'StorageType = Literal\["Ebs"')
    own.insert(settings, ' "FsxOntap": "FSx for NetApp ONTAP",', after=r"STORAGE_TYPES: [^=]+= \{")
    own.insert(settings, ' "fsx-ontap": "FsxOntap",', after=r"\b_TYPES: [^=]+= \{")
    row = ' "existing-fsx-ontap": _existing_open_zfs,'
    own.insert(settings, row, after=r"\b_SETTINGS: [^=]+= \{")
    own.insert(look_up, "ExistingFsxOntap, ", after=r"config\.storage import (\(\s*)?")
    own.insert(look_up, " | ExistingFsxOntap", after=r"isinstance\(s, ExistingFsxOpenZfs")
    own.insert(check, '"FsxOntap": _open_zfs, ', after=r"checks = \{")
    own.insert(conversion, '"FsxOntap": "existing-fsx-ontap", ', after=r"_VOLUMES = \{")
    assert "docs/config.md" in own.python("-m", "tools.schema")
    own.pytest(
        "tests/parallelcluster/test_ontap.py",
        "tests/parallelcluster/test_storage_settings.py",
        "tests/contract/test_constraints.py",
        *("-k", "ontap or every_kind or every_field or Ontap"),
    )
    assert own.left() == set()


def test_a_job_feature_is_a_field_a_key_an_option_and_three_documents(copy: Path) -> None:
    own = follow(
        copy,
        "Job feature",
    )
    cases = "tests/trainyard/jobs/test_comment.py"
    own.add(cases, written("job_feature_cases.py"))
    field = '    comment: str = ""\n    """What the scheduler shows beside the job."""\n'
    own.insert("jobs/training.py", field, after=r'"""Name of the job: a DNS label\."""\n')
    key = '    comment: str | None = None\n    """What the scheduler shows beside the job."""\n'
    own.insert("job_file.py", key, after=r'"""Name of the job\."""\n')
    option = (
        '    comment: Annotated[str | None, typer.Option(help="Shown beside the job.")] = None,\n'
    )
    own.insert("run.py", option, after=r"    name: Name = None,\n")
    own.insert("run.py", '        "comment": comment,\n', after=r"    overrides = \{\n")
    with pytest.raises(NotSufficientError, match="3 failed, 1 passed"):
        own.pytest(cases)
    note = '    note = {"kubernetes.io/description": request.comment} if request.comment else {}\n'
    own.insert("eks_training.py", note, after=r"\) -> dict\[str, Any\]:\n(?=    files = )")
    noted = '{**metadata, "annotations": note}'
    own.insert("eks_training.py", f" {noted} if note else", after=r'"Job",\n        "metadata":')
    line = (
        "    text = shlex.quote(request.comment)\n"
        '    said = [f"#SBATCH --comment={text}"] if request.comment else []\n'
    )
    own.insert("slurm/training.py", line, after=r'SIGKILL\.\n    """\n')
    own.insert("slurm/training.py", "*said, ", after=r"return \[(?=_UNLIMITED)")
    own.insert("slurm/training.py", "*said, ", after=r"return \[(?=_LIMITED)")
    tags = '**({"tags": {"comment": request.comment}} if request.comment else {}), '
    own.insert("batch_training.py", tags, after=r"fields=\{")
    own.insert("test_job_file.py", "comment: first run\n", after=r'WHOLE = """\\\n')
    fits = "tests/contract/test_tree.py::test_functions_fit_on_a_screen"
    own.pytest(cases, "tests/trainyard/jobs/test_job_file.py", fits)
    assert own.left() == set()


def test_a_config_key_with_a_check_of_the_account_is_six_places(copy: Path) -> None:
    own = follow(
        copy,
        "Config key",
        models="storage",
        resources="parallelcluster/storage_settings",
    )
    cases = "tests/named/test_snapshot_check.py"
    own.add(cases, written("config_key_cases.py"))
    model, look_up, check = "<models>.py", "named/lookup.py", "named/checks.py"
    own.insert(model, "Form, ", after=r"config\.base import (\(\s*)?")
    own.insert(model, written("config_key.txt"), after=r"\n(?=class _EbsMount)")
    key = '    snapshot_id: EbsSnapshotId | None = None\n    """Snapshot that it begins with."""\n'
    own.insert(model, key, after=r'"""Amazon EBS, new\."""\n')
    own.insert("parameters.yaml", written("config_key_parameter.txt"), after=r"\ntypes:\n")
    facts = "@dataclass(frozen=True, slots=True)\nclass SnapshotFacts:\n    state: str\n\n\n"
    own.insert("named/facts.py", facts, after=r"\n(?=@dataclass.+\nclass PolicyFacts)")
    own.insert(look_up, "SnapshotFacts, ", after=r"named\.facts import (\(\s*)?")
    own.insert(look_up, written("config_key_look_up.txt"))
    own.insert(check, "SnapshotFacts, ", after=r"named\.facts import (\(\s*)?")
    own.insert(check, written("config_key_check.txt"), after=r"\n(?=OBJECT_KINDS: )")
    row = (
        '\n    "ebs-snapshot": ObjectKind(check="snapshots", asked="it is complete", '
        'calls=("ec2:DescribeSnapshots",), '
        "look_up=lookup.look_up_snapshot, problems=snapshot_problems),"
    )
    own.insert(check, row, after=r"\nOBJECT_KINDS: [^=]+= \{")
    own.insert(
        "<resources>.py",
        '"SnapshotId": wanted.snapshot_id, ',
        after=r"return \{\n        (?=\"VolumeType\")",
    )
    written_by = [own.python("-m", each) for each in ("tools.catalog.constraints", "tools.schema")]
    assert "docs/config.md" in written_by[1]
    own.pytest(cases, "tests/contract/test_constraints.py", "-k", "snapshot or Snapshot or every_")
    assert own.left() == set()
