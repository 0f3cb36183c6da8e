"""User data of Batch's nodes: a parseable MIME archive with an executable script."""

import email
import subprocess

import pytest

from trainyard.components.batch.compute_environment_plan import SCRATCH, multipart, render_user_data

DISK = "Amazon EC2 NVMe Instance Storage"
VOLUME = "Amazon Elastic Block Store"


def parts(text):
    archive = email.message_from_string(text)
    assert archive.is_multipart()
    return [(part.get_content_type(), part.get_payload()) for part in archive.get_payload()]


def script():
    _, (_, text) = parts(render_user_data("raid0"))
    return text


@pytest.fixture
def boot(tmp_path):
    """Run the script on a machine with these disks, and return its calls."""

    def run(models, *, has_mdadm=False):
        calls, tools, target = tmp_path / "calls", tmp_path / "bin", tmp_path / "scratch"
        tools.mkdir()
        calls.touch()
        stubs = ["mkfs.xfs", "mount", "dnf", *(["mdadm"] if has_mdadm else [])]
        recorded = f'#!/bin/sh\necho "$(basename "$0") $*" >> {calls}\n'
        for stub in stubs:
            (tools / stub).write_text(recorded)
        (tools / "dnf").write_text(recorded + f"cp {tools}/mount {tools}/mdadm\n")
        listed = "\n".join(f"/dev/nvme{number}n1 {model}" for number, model in enumerate(models))
        (tools / "lsblk").write_text(f"#!/bin/sh\ncat <<'END'\n{listed}\nEND\n")
        for tool in tools.iterdir():
            tool.chmod(0o755)
        text = script().replace(SCRATCH, str(target)).replace(f"/dev/md{target}", "/dev/md/scratch")
        path = f"{tools}:/usr/bin:/bin"
        subprocess.run(["bash", "-c", text], check=True, env={"PATH": path}, capture_output=True)
        assert target.stat().st_mode & 0o7777 == 0o1777
        return [line.replace(str(target), SCRATCH) for line in calls.read_text().splitlines()]

    return run


def test_containers_of_several_nodes_cannot_take_the_credentials_of_the_node(tmp_path):
    """`awsvpc` containers are one hop from the metadata service, within the hop limit."""
    ((kind, text),) = parts(render_user_data("none"))
    assert kind == "text/x-shellscript"
    config = tmp_path / "ecs.config"
    config.write_text("ECS_CLUSTER=batch\n")
    text = text.replace("/etc/ecs/ecs.config", str(config))
    subprocess.run(["bash", "-c", text], check=True)
    assert config.read_text() == "ECS_CLUSTER=batch\nECS_AWSVPC_BLOCK_IMDS=true\n"


def test_the_agent_is_configured_with_local_disks_too():
    (_, agent), _ = parts(render_user_data("raid0"))
    assert [("text/x-shellscript", agent)] == parts(render_user_data("none"))


@pytest.mark.parametrize("installed", [True, False])
def test_the_cloudwatch_agent_is_installed_where_the_image_has_none(tmp_path, installed):
    *_, (kind, text) = parts(render_user_data("raid0", agent_script="echo configured\n"))
    assert kind == "text/x-shellscript"
    agent, dnf = tmp_path / "amazon-cloudwatch-agent-ctl", tmp_path / "dnf"
    if installed:
        agent.touch(mode=0o755)
    dnf.write_text('#!/bin/sh\necho "$*"\n')
    dnf.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", text.replace("/opt/aws/amazon-cloudwatch-agent/bin", str(tmp_path))],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    install = "install -y --setopt=retries=10 amazon-cloudwatch-agent"
    assert done.stdout.splitlines() == [*([] if installed else [install]), "configured"]


def test_user_data_is_a_mime_archive():
    """Pain 10: `Launch Template UserData is not MIME multipart` makes the environment INVALID."""
    assert [kind for kind, _ in parts(render_user_data("raid0"))] == ["text/x-shellscript"] * 2
    assert render_user_data("raid0").startswith("MIME-Version: 1.0\n")


def test_the_script_is_a_script():
    assert script().startswith("#!/bin/bash\n")
    assert subprocess.run(["bash", "-n", "-c", script()], check=False).returncode == 0


def test_all_local_disks_become_one_file_system(boot):
    """BAT-09, DF-10: commented out in the template; EBS volumes are not local disks."""
    calls = boot([VOLUME, *[DISK] * 8], has_mdadm=True)
    disks = " ".join(f"/dev/nvme{number}n1" for number in range(1, 9))
    array = "--level=0 --name=scratch --run --homehost=any --raid-devices=8"
    assert calls == [
        f"mdadm --create /dev/md/scratch {array} {disks}",
        "mkfs.xfs -f /dev/md/scratch",
        "mount -o noatime /dev/md/scratch /scratch",
    ]


def test_mdadm_is_installed_where_the_image_has_none(boot):
    calls = boot([DISK] * 2)
    assert calls[0] == "dnf install -y --setopt=retries=10 mdadm"
    assert calls[1].endswith("--raid-devices=2 /dev/nvme0n1 /dev/nvme1n1")


def test_a_single_disk_needs_no_array(boot):
    assert boot([VOLUME, DISK]) == [
        "mkfs.xfs -f /dev/nvme1n1",
        "mount -o noatime /dev/nvme1n1 /scratch",
    ]


def test_a_node_whose_disks_are_not_there_starts_all_the_same(boot):
    assert boot([VOLUME]) == []


def test_parts_keep_their_order_and_their_kind():
    text = multipart([("cloud-boothook", "first"), ("x-shellscript", "second")])
    assert [(kind, content.strip()) for kind, content in parts(text)] == [
        ("text/cloud-boothook", "first"),
        ("text/x-shellscript", "second"),
    ]


def test_fails_where_a_part_would_end_the_archive():
    with pytest.raises(ValueError, match="must not contain `--trainyard-node`"):
        multipart([("x-shellscript", "--trainyard-node--")])
