"""`./trainyard test --since` selects every test that can depend on a changed file."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import pytest

from tests.support.tracked import ROOT
from tools.suite import STARTED_BY_PATH, Repository, changed_since, is_whole

FILES: Mapping[str, str] = {
    "__main__.py": "from trainyard.components.build import build\n",
    "components/build.py": "ROWS = {'eks': 'trainyard.components.eks'}\n",
    "components/eks/plan.py": "from trainyard.components.sizes import read\n",
    "components/sizes.py": "read = open('sizes.json')\n",
    "components/sizes.json": "{}",
    "components/unused.txt": "",
    "policies/__main__.py": "import trainyard.policies.pack.discovery\n",
    "policies/pack/discovery.py": 'def load(f): import_module(f"trainyard.policies.rules.{f}")\n',
    "policies/rules/efa_count.py": "",
    "policies/rules/lustre_size.py": "",
    "sandbox/start.py": "",
    "tools/benchmarks/run.py": "",
    "src/trainyard/__main__.py": "import trainyard.cli.command_line\n",
    "src/trainyard/cli/command_line.py": "COMMANDS = {'up': 'deployment.up'}\n",
    "src/trainyard/commands/deployment/up.py": "",
    "sandbox/engine/host.go": "",
    "tests/conftest.py": "",
    "tests/contract/test_layers.py": "",
    "tests/eks/test_plan.py": "import trainyard.components.eks.plan\n",
    "tests/policies/efa/test_efa_count.py": "import trainyard.policies.rules.efa_count\n",
    "tests/policies/test_engine.py": "@pytest.mark.engine\nRULE = 'lustre-size'\n",
    "tests/policies/test_pack.py": "import trainyard.policies.pack.discovery\n",
    "tests/faults/test_refused.py": "RULE = 'lustre-size'\n",
    "tests/stacks/conftest.py": "import trainyard.sandbox.start\n",
    "tests/stacks/test_life.py": "import tests.support.sandbox\n",
    "tests/support/sandbox.py": "MODULE = 'trainyard'\n",
    "tests/test_naming.py": "",
    "tests/trainyard/cli/test_findings.py": "SAID = 'against lustre-size-of-a, lustre-size: 1'\n",
    "tests/sandbox/engine/test_host.py": "",
    "tests/tools/test_logs.py": 'TEXT = ROOT / "tests" / "logs" / "good.log"\n',
    "tests/logs/good.log": "",
}
LIFE = "tests/stacks/test_life.py"
PLAN = "tests/eks/test_plan.py"
PACK = "tests/policies/test_pack.py"
NAMES_RULE = ["tests/policies/test_engine.py", "tests/trainyard/cli/test_findings.py"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = tmp_path_factory.mktemp("repository")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "src" / "trainyard").mkdir(parents=True, exist_ok=True)
    for name in ("components", "policies", "sandbox"):
        (root / "src" / "trainyard" / name).symlink_to(f"../../{name}")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return Repository(root)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("components/eks/plan.py", [PLAN, LIFE]),
        ("components/sizes.py", [PLAN, LIFE]),
        ("components/sizes.json", [PLAN, LIFE]),
        ("__main__.py", [LIFE]),
        ("policies/pack/discovery.py", [LIFE, PACK]),
        ("policies/rules/efa_count.py", ["tests/policies/efa/test_efa_count.py", PACK]),
        ("policies/rules/lustre_size.py", [PACK, *NAMES_RULE]),
        ("src/trainyard/commands/deployment/up.py", [LIFE]),
        ("sandbox/start.py", [LIFE]),
        ("tests/stacks/conftest.py", [LIFE]),
        ("sandbox/engine/host.go", ["tests/sandbox/engine/test_host.py"]),
        ("tests/logs/good.log", ["tests/tools/test_logs.py"]),
        ("tests/test_naming.py", ["tests/test_naming.py"]),
        ("tools/benchmarks/run.py", []),
    ],
)
def test_a_file_selects_the_tests_that_import_start_or_read_it(repository, changed, expected):
    selection = repository.selected([changed])
    assert selection.everything_because_of == ""
    assert set(selection.files) == {*expected, "tests/contract/test_layers.py"}


@pytest.mark.parametrize("changed", ["tests/conftest.py", "requirements.txt", "LICENSE"])
def test_what_no_test_is_known_to_read_selects_everything(repository, changed):
    selection = repository.selected(["tests/test_naming.py", changed])
    assert selection.everything_because_of == changed
    assert set(selection.files) == {name for name in FILES if "/test_" in name}


def test_no_change_selects_nothing(repository):
    assert repository.selected([]).files == ()


def test_changes_are_those_since_the_revision_and_files_that_git_does_not_know(tmp_path):
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    git("init", "--quiet")
    for name in ("kept.py", "changed.py", "removed.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "--message", "a")
    (tmp_path / "changed.py").write_text("1", encoding="utf-8")
    (tmp_path / "removed.py").unlink()
    (tmp_path / "new.py").write_text("", encoding="utf-8")
    assert changed_since("HEAD", tmp_path) == ["changed.py", "new.py", "removed.py"]


def test_programs_that_are_started_by_their_path_exist():
    files = {*STARTED_BY_PATH, *(each for some in STARTED_BY_PATH.values() for each in some)}
    assert not [path for path in files if not (ROOT / path).is_file()]


def test_a_changed_rule_selects_its_programs_in_the_process_of_the_pack_and_no_stack():
    repository = Repository(ROOT)
    for path in sorted((ROOT / "policies" / "rules").glob("*/[!_]*.py")):
        rule = path.relative_to(ROOT)
        files = repository.selected([str(rule)]).files
        assert f"tests/policies/{rule.parent.name}/test_{rule.name}" in files
        assert "tests/policies/test_pack_process.py" in files
        whole = [each for each in files if is_whole(each)]
        assert whole == ["tests/faults/test_policy_shapes.py"], rule
