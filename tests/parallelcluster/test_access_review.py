"""Scripts that nodes run."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import notes, plan_from, refusals
from trainyard.components.parallelcluster.node_scripts import script_text


@pytest.mark.parametrize(
    ("system", "script", "refused"),
    [
        ("alinux2023", "docker", False),
        ("rhel9", "docker", True),
        ("rhel9", "pyxis", False),
        ("alinux2023", "https://example.org/setup.sh", False),
        ("rhel9", "s3://training-scripts/setup.sh", False),
        ("alinux2023", "s3://training-scripts", True),
        ("alinux2023", "s3://training-scripts/", True),
    ],
)
@pytest.mark.parametrize("where", ["architecture.head_node", "architecture.queues.compute"])
def test_a_script_is_an_object_that_runs_on_the_nodes(
    system: str, script: str, where: str, *, refused: bool
):
    """PCx-07."""
    actions = {"on_node_configured": [{"script": script}]}
    # Pyxis is on the head node and on queues, or on neither.
    nodes = ("architecture.head_node", QUEUE) if script == "pyxis" else (where,)
    raw = raw_g4dn(
        architecture__operating_system=system,
        **{f"{each.replace('.', '__')}__custom_actions": actions for each in nodes},
    )
    key = f"{where}.custom_actions.on_node_configured[0].script"
    assert list(refusals(raw)) == [key] * refused


QUEUE = "architecture.queues.compute"
SCRIPT = f"{QUEUE}.custom_actions.on_node_configured[0].script"


def with_script(script: str, **queue: object) -> dict[str, object]:
    actions = {"on_node_configured": [{"script": script}]}
    changes = {f"architecture__queues__compute__{key}": value for key, value in queue.items()}
    return raw_g4dn(architecture__queues__compute__custom_actions=actions, **changes)


@pytest.mark.parametrize(
    ("page", "file"),
    [
        (
            "https://github.com/o/r/blob/main/a/setup.sh",
            "https://raw.githubusercontent.com/o/r/main/a/setup.sh",
        ),
        (
            "https://gist.github.com/me/0123456789abcdef",
            "https://gist.githubusercontent.com/me/0123456789abcdef/raw",
        ),
        ("https://gitlab.com/g/p/-/blob/main/s.sh", "https://gitlab.com/g/p/-/raw/main/s.sh"),
        ("https://bitbucket.org/o/r/src/main/s.sh", "https://bitbucket.org/o/r/raw/main/s.sh"),
        (
            "https://us-west-2.console.aws.amazon.com/s3/object/scripts?prefix=a/setup.sh",
            "s3://scripts/a/setup.sh",
        ),
    ],
)
def test_a_web_page_is_refused_with_the_address_of_its_file(page: str, file: str):
    problem = refusals(with_script(page))[SCRIPT]
    assert "web page" in problem.problem
    assert problem.remedy.endswith(f"script' {file}")


@pytest.mark.parametrize(
    "page",
    ["https://github.com/o/r", "https://github.com/o/r/tree/main/scripts", "https://gitlab.com/g"],
)
def test_a_page_about_no_single_file_is_refused_without_a_command(page: str):
    assert "pulumi config" not in refusals(with_script(page))[SCRIPT].remedy


@pytest.mark.parametrize(
    "address",
    [
        "https://raw.githubusercontent.com/o/r/main/setup.sh",
        "https://github.com/o/r/raw/main/setup.sh",
        "https://github.com/o/r/blob/main/setup.sh?raw=true",
        "https://github.com/o/r/releases/download/v1/setup.sh",
        "https://gist.github.com/me/0123456789abcdef/raw/setup.sh",
        "https://example.org/blob/setup.sh",
    ],
)
def test_an_address_of_a_file_is_accepted(address: str):
    assert not refusals(with_script(address))


@pytest.mark.parametrize(
    ("access", "policies", "noted"),
    [
        ([], [], True),
        ([{"bucket": "other"}], [], True),
        ([{"bucket": "scripts", "key": "b/*"}], [], True),
        ([{"bucket": "scripts", "key": "a/*"}], [], False),
        ([{"bucket": "scripts", "key": "a/setup.sh"}], [], False),
        ([{"bucket": "scripts"}], [], False),
        ([], ["AmazonS3ReadOnlyAccess"], False),
        ([], ["CloudWatchAgentServerPolicy"], True),
    ],
)
def test_a_bucket_that_the_role_does_not_let_nodes_read_is_noted(
    access: list[object], policies: list[str], *, noted: bool
):
    """https://github.com/aws-samples/pcluster-manager/issues/269; a bucket policy may allow it."""
    raw = with_script("s3://scripts/a/setup.sh", s3_access=access, iam_policies=policies)
    assert not refusals(raw)
    assert ("`{bucket: scripts}`" in notes(raw)) == noted


@pytest.mark.parametrize(
    ("instance_type", "script", "noted"),
    [
        ("p4d.24xlarge", "neuron", True),
        ("p4d.24xlarge", "nccl", False),
        ("trn1.32xlarge", "neuron", False),
        ("trn1.32xlarge", "nccl", True),
        ("trn1.32xlarge", "docker", False),
        ("m5.8xlarge", "nccl", True),
    ],
)
def test_a_script_for_other_devices_is_noted(instance_type: str, script: str, *, noted: bool):
    resources = {"a": {"instance_type": instance_type, "maximum": 1}}
    raw = with_script(script, compute_resources=resources)
    assert not refusals(raw)
    assert ("remove it from this queue" in notes(raw)) == noted


def test_a_built_in_script_that_runs_twice_is_noted():
    both = {"script": "docker"}
    actions = {"on_node_start": [both], "on_node_configured": [both]}
    raw = raw_g4dn(architecture__queues__compute__custom_actions=actions)
    assert not refusals(raw)
    assert "`docker` already runs" in notes(raw)


SHARED = {"kind": "efs", "mount_directory": "/shared/data"}
PYXIS_BY_URL = (
    "https://raw.githubusercontent.com/aws-samples/aws-parallelcluster-post-install-scripts/"
    "main/pyxis/postinstall.sh"
)


@pytest.mark.parametrize("where", ["architecture.head_node", QUEUE])
@pytest.mark.parametrize("script", ["pyxis", PYXIS_BY_URL])
@pytest.mark.parametrize(
    ("directory", "why"),
    [
        ("/shared/data", "/shared/data, which all nodes share, writable"),
        ("/shared/data/", "/shared/data, which all nodes share, writable"),
        ("/shared", "/shared/data, which all nodes share, writable"),
        ("/", "/home, which all nodes share, writable"),
        ("/home", "/home, which all nodes share, writable"),
        ("/shared/data/enroot", "lies in /shared/data"),
        ("/home/ubuntu/enroot", "lies in /home"),
        ("/etc", "directory of the operating system"),
        ("/tmp", "directory of the operating system"),
    ],
)
def test_pyxis_gets_no_directory_with_other_files(
    where: str, script: str, directory: str, why: str
) -> None:
    """`pyxis/postinstall.sh` of AWS: `chmod -R 1777 $ENROOT_DIR`, which is `$1`."""
    actions = {"on_node_configured": [{"script": script, "arguments": [directory]}]}
    key = f"{where}.custom_actions.on_node_configured[0].arguments"
    raw = raw_g4dn(
        storage={"data": SHARED}, **{f"{where.replace('.', '__')}__custom_actions": actions}
    )
    (problem,) = [each for at, each in refusals(raw).items() if at == f"{key}[0]"]
    assert why in problem.problem
    assert ("-R" in problem.problem) == (script != "pyxis" and "lies in" not in why)
    assert problem.remedy.startswith("pulumi config rm ")
    assert problem.remedy.endswith(f"'trainyard:cluster.{key}'")


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("pyxis", []),
        ("pyxis", ["/local_scratch/enroot"]),
        ("pyxis", ["/tmp/enroot"]),
        ("pyxis", ["/shared/database"]),
        ("nccl", ["v2.27.7-1", "/shared/data"]),
        ("https://example.org/setup.sh", ["/shared/data"]),
    ],
)
def test_other_directories_and_scripts_are_accepted(script: str, arguments: list[str]) -> None:
    actions = {"on_node_configured": [{"script": script, "arguments": arguments}]}
    raw = raw_g4dn(
        storage={"data": SHARED},
        architecture__head_node__custom_actions=actions,
        architecture__queues__compute__custom_actions=actions,
    )
    assert not refusals(raw)


DIGEST = "8c8d5cd9793dad3ff0d39898622fb59b23acb78c1a5d690fe0e2347e90381cb7"


def test_a_script_at_a_url_is_verified_at_each_start():
    """Nodes download it from the bucket of the stack, with its address and digest as arguments."""
    given = {
        "script": "https://example.org/setup.sh",
        "sha256": DIGEST,
        "arguments": ["--fast"],
    }
    actions = {"on_node_configured": [given]}
    raw = raw_g4dn(
        architecture__head_node__custom_actions=actions,
        architecture__queues__compute__custom_actions=actions,
    )
    assert "as root" not in notes(raw)
    plan = plan_from(raw)
    for access in (plan.head_node.access, plan.queues[0].access):
        (script,) = access.on_node_configured
        assert script.url == ""
        assert script.arguments == ("https://example.org/setup.sh", DIGEST, "--fast")
        assert "sha256sum" in script_text(plan.node_scripts[script.key])


def test_a_script_at_a_url_without_a_digest_is_noted():
    said = notes(with_script("https://example.org/a.sh"))
    assert f"set {QUEUE}.custom_actions.on_node_configured[0].sha256" in said
    assert "sha256" not in notes(with_script("docker"))


def test_a_built_in_script_has_no_digest_of_the_user():
    actions = {"on_node_configured": [{"script": "docker", "sha256": DIGEST}]}
    problems = refusals(raw_g4dn(architecture__queues__compute__custom_actions=actions))
    assert list(problems) == [f"{QUEUE}.custom_actions.on_node_configured[0].sha256"]


AWS_PYXIS = (
    "https://raw.githubusercontent.com/aws-samples/aws-parallelcluster-post-install-scripts/main/"
    "pyxis/postinstall.sh"
)


@pytest.mark.parametrize(
    ("head_node", "queue", "refused"),
    [
        ([], [], None),
        (["pyxis"], ["pyxis"], None),
        ([AWS_PYXIS], ["pyxis"], None),
        ([], ["pyxis"], "architecture.head_node"),
        (["docker"], ["pyxis"], "architecture.head_node"),
        (["pyxis"], [], QUEUE),
        (["https://example.org/setup.sh"], ["pyxis"], None),
        (["pyxis"], ["https://example.org/setup.sh"], None),
    ],
)
def test_pyxis_is_on_the_head_node_and_on_queues(head_node, queue, refused):
    """The plugin of Slurm is the head node's, the containers of Enroot are those of the queue."""
    raw = raw_g4dn(
        architecture__head_node__custom_actions=_configured(head_node),
        architecture__queues__compute__custom_actions=_configured(queue),
    )
    wanted = [f"{refused}.custom_actions.on_node_configured"] if refused else []
    assert list(refusals(raw)) == wanted


def test_a_queue_without_pyxis_beside_one_that_has_it_is_told():
    other = raw_g4dn()["architecture"]["queues"]["compute"]
    raw = raw_g4dn(
        architecture__head_node__custom_actions=_configured(["pyxis"]),
        architecture__queues__compute__custom_actions=_configured(["pyxis"]),
        architecture__queues__cpu=other,
    )
    assert not refusals(raw)
    assert "cpu has no `pyxis`" in notes(raw)


def test_an_own_image_may_have_pyxis():
    raw = raw_g4dn(
        architecture__custom_ami_id="ami-0123456789abcdef0",
        architecture__queues__compute__custom_actions=_configured(["pyxis"]),
    )
    assert not refusals(raw)


def _configured(scripts: list[str]) -> dict[str, object]:
    return {"on_node_configured": [{"script": each} for each in scripts]}
