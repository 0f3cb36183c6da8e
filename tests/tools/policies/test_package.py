"""The packaged pack works without this repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.support.policy import Declared
from tests.support.policy_pack import running_pack
from tests.support.policy_programs import EFA_NETWORK, p5_interfaces, template
from tools.lock import PROGRAM, locked
from tools.policies import package as command
from tools.policies.package import pack_modules, requirements, write_package
from trainyard.policies.pack.discovery import POLICIES


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("package") / "pack"
    write_package(directory)
    return directory


def test_the_package_finds_violations_from_another_working_directory(package, tmp_path):
    volume = Declared("aws:ebs/volume:Volume", "scratch", {"size": 100})
    # The rule about interfaces reads the catalog of instance types.
    interfaces = [*p5_interfaces(), p5_interfaces()[-1]]
    program = (volume, template(networkInterfaces=interfaces), *EFA_NETWORK)
    with running_pack(str(package), directory=tmp_path) as pack:
        served = [policy.name for policy in pack.info().policies]
        found = {diagnostic.policyName for diagnostic in pack.analyze(program)}
    assert served[: len(POLICIES)] == [policy.name for policy in POLICIES]
    assert {"ebs-encrypted", "efa-interface-count"} <= found


def test_the_package_holds_what_the_pack_imports_and_nothing_of_our_stacks(package):
    found = {path.relative_to(package) for path in package.rglob("*.py")}
    assert found == {*pack_modules(), Path("__main__.py")}
    assert Path("trainyard/policies/rules/efa/efa_interface_count.py") in found
    assert not any(path.stem == "stack_config" for path in found)
    assert not [path for path in found if path.parts[1:3] == ("components", "architectures")]
    assert (
        package / "trainyard" / "components" / "catalog" / "data" / "instance_types.json"
    ).is_file()


def test_the_package_is_described_as_the_engine_wants_it(package):
    project = yaml.safe_load((package / "PulumiPolicy.yaml").read_text(encoding="utf-8"))
    assert project["runtime"]["name"] == "python"
    assert project["runtime"]["options"] == {"toolchain": "pip", "virtualenv": "venv"}
    assert project["version"]


def test_the_package_pins_the_sdk_and_all_that_it_needs_with_hashes():
    text = requirements(pack_modules())
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))
    versions = locked(PROGRAM.path)
    assert pins == {name: versions[name] for name in pins}
    assert {"pulumi-policy", "pulumi", "grpcio", "protobuf"} <= pins.keys()
    assert "boto3" not in pins, "the lookup works without it, by saying so"
    assert text.count("--hash=") >= len(pins)


def test_what_is_not_locked_is_named(tmp_path):
    lock = tmp_path / "requirements.txt"
    lock.write_text("")
    with pytest.raises(LookupError, match=r"requirements\.txt does not lock .*pulumi-policy"):
        requirements(pack_modules(), lock)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert command.main([str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_command_writes_the_package(tmp_path, capsys):
    assert command.main([str(tmp_path / "pack")]) == 0
    said = capsys.readouterr().out
    assert f"cd {tmp_path / 'pack'} && pulumi install\n" in said
    assert "pulumi policy publish" in said
    readme = (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    assert "    pulumi install\n" in readme
    # This command installs the packs of an organization: `pulumi policy install --help`.
    assert "pulumi policy install" not in said + readme
    assert (tmp_path / "pack" / "PulumiPolicy.yaml").is_file()


def test_a_command_without_a_folder_says_how_it_is_used(capsys):
    assert command.main([]) == 2
    assert "python -m tools.policies.package <folder>" in capsys.readouterr().err
