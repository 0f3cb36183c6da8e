"""The report of `import` and its stack file say the same, and `check` accepts what is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.support.import_sources import SYSTEM, batch, cluster, cluster_config
from tests.support.importing import at, outcomes, read_directory, read_text
from trainyard.cli.app import app
from trainyard.importing.imported import Imported, import_file
from trainyard.stack_files import stacks_directory

CASES = Path(__file__).parent / "cases"


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    directory = tmp_path / "stacks"
    stacks_directory.create(directory)
    return directory


def read_case(name: str) -> Imported:
    (read,) = import_file(CASES / name)
    assert isinstance(read, Imported)
    return read


def run_import(stacks: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["--stacks", str(stacks), "import", *map(str, arguments)])


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("02-cfn-batch-bid-percentage.yaml",
         "Resources.CE.Properties.ComputeResources.BidPercentage"),
        ("04-eksctl-not-dropped.yaml", "addonsConfig.disableDefaultAddons"),
        ("04-eksctl-not-dropped.yaml", "nodeGroups[0].asgMetricsCollection[0].granularity"),
        ("04-eksctl-not-dropped.yaml", "accessConfig.bootstrapClusterCreatorAdminPermissions"),
        ("15-eksctl-spot-price-and-tags.yaml", "nodeGroups[0].instancesDistribution.maxPrice"),
    ],
)  # fmt: skip
def test_what_changes_the_cluster_is_not_dropped(name: str, field: str):
    assert outcomes(read_case(name))[field] == ("not supported", "")


def test_reasons_are_about_their_own_field():
    whys = {
        ".".join(map(str, each.location)): each.claim.why
        for each in read_case("15-eksctl-spot-price-and-tags.yaml").entries
    }
    assert "On-Demand price" in whys["nodeGroups.0.instancesDistribution.maxPrice"]
    (tag,) = [why for field, why in whys.items() if ".tags." in field]
    assert "create-or-update-tags" in tag


def test_public_nodes_that_become_private_are_named(tmp_path: Path):
    (note,) = [
        each
        for each in read_text(tmp_path, cluster_config()).report.notes
        if "privateNetworking" in each
    ]
    assert "the nodes of sys in public subnets" in note
    private = cluster_config(SYSTEM.replace("{name", "{privateNetworking: true, name"))
    notes = read_text(tmp_path, private).report.notes
    assert [each for each in notes if "privateNetworking" in each] == []


def test_a_queue_of_two_environments_says_that_it_differs(tmp_path: Path):
    source = batch() + (
        "  Queue:\n    Type: AWS::Batch::JobQueue\n    Properties:\n      Priority: 1\n"
        "      ComputeEnvironmentOrder:\n"
        "        - {Order: 1, ComputeEnvironment: !Ref Nodes}\n"
        "        - {Order: 2, ComputeEnvironment: !Ref More}\n"
    )
    found = outcomes(read_text(tmp_path, source))
    begin = "Resources.Queue.Properties.ComputeEnvironmentOrder"
    assert {found[f"{begin}[{n}].Order"][0] for n in (0, 1)} == {"not supported"}


OF_ECS = "/aws/service/ecs/optimized-ami"


@pytest.mark.parametrize(
    ("path", "fate", "image"),
    [
        (f"{OF_ECS}/amazon-linux-2023/gpu/recommended/image_id", "implied", None),
        (f"{OF_ECS}/amazon-linux-2/gpu/recommended/image_id", "taken over better", None),
        ("/team/training/ami", "not supported", "custom"),
        ("'{{resolve:ssm:/team/training/ami}}'", "not supported", "custom"),
    ],
)
def test_an_ami_of_the_parameter_store_is_the_one_of_the_path(
    tmp_path: Path, path: str, fate: str, image: str | None
):
    read = read_text(tmp_path, batch(f"MaxvCpus: 384\nImageId: {path}"))
    assert outcomes(read)["Resources.Nodes.Properties.ComputeResources.ImageId"][0] == fate
    nodes = at(read, "architecture", "compute_environments", "Nodes")
    assert nodes.get("image") == image
    whys = {entry.claim.why for entry in read.entries if entry.claim.fate == "not supported"}
    assert any("--name /team/training/ami " in each for each in whys) == (image == "custom")


def test_check_refuses_a_job_without_a_known_image(stacks: Path):
    done = run_import(
        stacks, CASES / "03-cfn-batch-job-image-unknown.yaml", "--region", "us-west-2"
    )
    assert "job_definitions.Transcribe.image" in done.stdout
    assert "is not a container image" in done.stdout


def test_a_job_that_has_no_image_gets_none(tmp_path: Path):
    job = "  Job: {Type: 'AWS::Batch::JobDefinition', Properties: {Type: container}}\n"
    read = read_text(tmp_path, batch() + job)
    assert at(read, "architecture", "job_definitions", "Job", "image") == "<image of the job>"


@pytest.mark.parametrize(
    "target",
    [
        "CapacityReservationResourceGroupArn: 'arn:aws:resource-groups:us-west-2:1:group/x'",
        "CapacityReservationId: cr-0123456789abcdef0",
    ],
)
def test_one_reservation_of_two_pools_is_one_entry(tmp_path: Path, target: str):
    reserved = f"CapacityReservationTarget: {{{target}}}"
    resource = "    - {{Name: {0}, InstanceType: {1}, MinCount: 1, MaxCount: 1, {2}}}\n"
    queue = (
        "- Name: gpu\n  Networking: {SubnetIds: [subnet-0123456789abcdef1]}\n  ComputeResources:\n"
        + resource.format("a", "p4d.24xlarge", reserved)
        + resource.format("b", "p4d.24xlarge", reserved)
    )
    read = read_text(tmp_path, cluster(queue))
    (name,) = at(read, "reservations")
    pools = at(read, "architecture", "queues", "gpu", "compute_resources")
    assert {each["purchase_option"] for each in pools.values()} == {name}


def test_one_reservation_of_two_node_groups_is_one_entry(tmp_path: Path):
    group = (
        "- {{name: {0}, instanceType: p5.48xlarge, privateNetworking: true, desiredCapacity: 1, "
        "capacityReservation: {{capacityReservationTarget: "
        "{{capacityReservationID: cr-0123456789abcdef0}}}}}}\n"
    )
    read = read_text(tmp_path, cluster_config(SYSTEM + group.format("a") + group.format("b")))
    (name,) = at(read, "reservations")
    groups = at(read, "architecture", "node_groups")
    assert {each["purchase_option"] for each in groups.values()} == {name}


def test_zones_that_the_file_leaves_open_are_some_of_its_region(stacks: Path):
    done = run_import(stacks, CASES / "13-eksctl-region-of-the-fix.yaml", "--name", "other")
    assert "other: ok" in done.stdout
    assert "use2-az1, use2-az2, use2-az3" in done.stdout
    assert "us-west-2" not in done.stdout
    written = (stacks / "Pulumi.other.yaml").read_text(encoding="utf-8")
    assert "use2-az1" in written


def test_a_name_of_the_command_is_not_one_of_the_file(stacks: Path):
    path = CASES / "13-eksctl-region-of-the-fix.yaml"
    done = run_import(stacks, path, "--name", "other", "--all")
    assert "the command gives the cluster the name other" in done.stdout
    assert "metadata.name: c -> name" not in done.stdout


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        ("nvidia-device-plugin", "the stack installs the NVIDIA device plugin"),
        ("gpu-operator", "`devicePlugin.enabled=false`"),
        ("aws-efa-k8s-device-plugin", "the stack installs the EFA device plugin"),
        ("neuron-helm-chart", "the stack installs the Neuron device plugin"),
        ("aws-fsx-csi-driver", "`addons.fsx_csi_driver`"),
        ("aws-ebs-csi-driver", "`addons.ebs_csi_driver`"),
        ("cluster-autoscaler", "without a reservation"),
        ("prometheus", "keep it in Terraform"),
    ],
)
def test_charts_that_the_stack_replaces_have_a_line_of_their_own(
    tmp_path: Path, chart: str, said: str
):
    main = (CASES / "12-tf-device-plugins" / "main.tf").read_text(encoding="utf-8")
    release = f'resource "helm_release" "it" {{\n  name = "it"\n  chart = "{chart}"\n}}\n'
    read = read_directory(tmp_path, main=f"{main}{release}")
    (why,) = {each.claim.why for each in read.entries if each.location[0] == "helm_release.it"}
    assert said in why
    assert ("1. `./trainyard up`" in why) == (chart != "prometheus")


def test_terraform_without_values_says_once_and_first_where_they_are(tmp_path: Path):
    main = (CASES / "12-tf-device-plugins" / "main.tf").read_text(encoding="utf-8")
    assert "terraform show" not in "".join(read_directory(tmp_path, main=main).report.notes)
    unknown = main.replace('"vpc-0123456789abcdef0"', "var.vpc")
    notes = read_directory(tmp_path, main=unknown).report.notes
    assert "terraform show -json tfplan" in notes[0]
    assert not any("terraform show" in each for each in notes[1:])


def test_the_report_is_by_block_unless_every_field_is_asked_for(stacks: Path):
    path = CASES / "12-tf-device-plugins"
    short = run_import(stacks, path, "--name", "a").stdout
    every = run_import(stacks, path, "--name", "b", "--all").stdout
    assert "helm_release.nvidia: 4 fields" in short
    assert "taken over (" not in short
    assert "helm_release.nvidia.version: 0.17.1" in every
    assert "taken over (" in every


def test_a_plan_behind_the_wrapper_of_an_action_is_read_with_what_it_prints_after(tmp_path: Path):
    name = "14-tf-plan-of-the-setup-terraform-wrapper.json"
    text = (CASES / name).read_text(encoding="utf-8")
    path = tmp_path / "plan.txt"
    path.write_text(f"{text}\n::debug::Terraform exited with code 0.\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["lint", str(path)])
    assert (done.exit_code, "aws_vpc: a VPC of Terraform is not read" in done.stdout) == (0, True)


def test_a_group_that_terraform_does_not_create_is_none_of_the_stack(tmp_path: Path):
    main = (CASES / "12-tf-device-plugins" / "main.tf").read_text(encoding="utf-8")
    off = main.replace(
        "gpu = {", 'off = { create = false, instance_types = ["p5.48xlarge"] }\n gpu = {'
    )
    groups = at(read_directory(tmp_path, main=off), "architecture", "node_groups")
    assert [*groups] == ["gpu"]


def test_a_line_of_slurm_conf_with_several_parameters_is_one_setting():
    settings = at(read_case("07-pcluster-nodeset.yaml"), "architecture", "slurm", "settings")
    assert settings == {
        "NodeSet": "fast Nodes=q1-st-c1-[1-2]",
        "PartitionName": "Mine Nodes=fast",
    }


def test_an_add_on_that_does_not_work_in_the_stack_is_not_pinned():
    read = read_case("05-eksctl-vpc-cni-with-efa.yaml")
    assert "addons" not in at(read, "architecture")
    assert outcomes(read)["addons[0].version"][0] == "taken over better"
