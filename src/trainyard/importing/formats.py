"""The formats that can be read, and what of them is not read.

What is not read has the way that remains: a document with nothing else is refused with it, and in
others the report has one entry for each type.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from trainyard.components.config.problems import ROOT
from trainyard.importing.draft import StackDraft
from trainyard.importing.key_table import KeyTable
from trainyard.importing.reading import read_documents
from trainyard.importing.report import OutcomeTable, Reader
from trainyard.importing.source import Document, Node, child
from trainyard.importing.terraform.versions import OTHER_VERSION

CLUSTER_IN_TEMPLATE = "Custom::PclusterCluster"
"""Type of the resource of CloudFormation that has a configuration of ParallelCluster:
https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html"""
_CLUSTER_OF_CLOUDFORMATION = (
    "an EKS cluster of CloudFormation is not read: import the one that it created with "
    "`./trainyard import --live {name} --kind eks`"
)
_LIVE_BATCH = "`./trainyard import --live {name} --kind batch`"
_TEMPLATE_OF_BATCH = "or import a CloudFormation template with `AWS::Batch::…`"
_VPC = (
    "a VPC of Terraform is not read: the stack uses the one that exists by its ids, in `network` "
    "with `kind: existing-vpc`; `./trainyard import --live CLUSTER` writes them, and with "
    "`--adopt` the stack owns the VPC"
)
_FSX = (
    "a file system of Terraform is not read: mount it by its id, with an entry of `storage` that "
    "has `kind: existing-fsx-lustre` and `file_system_id`"
)
_BATCH = (
    "AWS Batch is not read from Terraform: import what runs, by the name of a compute environment "
    f"or a job queue, with {_LIVE_BATCH.format(name='NAME')}, {_TEMPLATE_OF_BATCH}"
)
_VERSION = (
    "this version of the module terraform-aws-modules/eks is not read: versions 18 to 21 are; "
    "import what runs with `./trainyard import --live CLUSTER --kind eks`, or the state, which has "
    "the resources of any version: `terraform show -json > state.json`"
)
OF_TERRAFORM: Mapping[str, str] = {
    OTHER_VERSION: _VERSION,
    **dict.fromkeys(
        (
            *("vpc", "aws_vpc", "aws_vpc_ipv4_cidr_block_association", "aws_subnet"),
            *("aws_internet_gateway", "aws_egress_only_internet_gateway", "aws_nat_gateway"),
            *("aws_eip", "aws_route_table", "aws_route", "aws_route_table_association"),
            *("aws_vpc_endpoint", "aws_flow_log", "aws_default_network_acl"),
            *("aws_default_route_table", "aws_default_security_group"),
        ),
        _VPC,
    ),
    **dict.fromkeys(
        ("fsx", "aws_fsx_lustre_file_system", "aws_fsx_data_repository_association"), _FSX
    ),
    **dict.fromkeys(
        (
            *("batch", "aws_batch_compute_environment", "aws_batch_job_queue"),
            *("aws_batch_job_definition", "aws_batch_scheduling_policy"),
        ),
        _BATCH,
    ),
}
"""The way that remains, by the section of a module of terraform-aws-modules or of a resource."""
CLUSTERS_OF_TERRAFORM = ("eks", "aws_eks_cluster")
GROUPS_OF_TERRAFORM = ("eks-managed-node-group", "self-managed-node-group", "aws_eks_node_group")
_VALUES = (
    "has values of variables only, and not the module: copy the file into the directory of the "
    "module that has the variables, and import the copy"
)
_OF_BATCH: Mapping[str, Sequence[str]] = {
    "computeEnvironmentName": ("type", "computeResources"),
    "jobQueueName": ("priority", "computeEnvironmentOrder"),
    "jobDefinitionName": ("type", "containerProperties", "nodeProperties", "ecsProperties"),
}
"""Keys of which an object of AWS Batch has one, by the key with its name."""
_LISTS_OF_BATCH = ("computeEnvironments", "jobQueues", "jobDefinitions")


def why_unread(document: Document) -> str:
    """Return why nothing of a document is read, and what to do; empty if it is not one of these."""
    resources = child(document.root, "Resources")
    if resources is not None:
        return _unread_of_cloudformation(resources)
    nodes = document.root.value.values() if isinstance(document.root.value, dict) else ()
    if any(node.section for node in nodes):
        return _unread_of_terraform(document.root)
    return _unread_of_batch(document) or _of_another_tool(document)


def _unread_of_cloudformation(resources: Node) -> str:
    """Return the answer for a template with an EKS cluster, without a VPC and AWS Batch."""
    objects = [*resources.value.values()] if isinstance(resources.value, dict) else []
    types = {_text(child(each, "Type")) for each in objects}
    of_eks = sorted(each for each in types if each.startswith("AWS::EKS::"))
    of_batch = any(each.startswith("AWS::Batch::") for each in types)
    if not of_eks or of_batch or {"AWS::EC2::VPC", CLUSTER_IN_TEMPLATE} & types:
        return ""
    return f"has {', '.join(of_eks)}: {cluster_of_cloudformation(objects)}"


def cluster_of_cloudformation(objects: Sequence[Node]) -> str:
    """Return the way that remains for the EKS cluster among the objects of a template."""
    clusters = [each for each in objects if _text(child(each, "Type")) == "AWS::EKS::Cluster"]
    names = [child(child(each, "Properties"), "Name") for each in clusters]
    plain = [_text(each) for each in names if each is not None and not each.tag]
    name = next(filter(None, plain), "CLUSTER")
    return _CLUSTER_OF_CLOUDFORMATION.format(name=shlex.quote(name))


def _text(node: Node | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _unread_of_terraform(root: Node) -> str:
    """Return the answer for blocks without an EKS cluster and node groups."""
    sections = {node.section for node in root.value.values()}
    if sections & {*CLUSTERS_OF_TERRAFORM, *GROUPS_OF_TERRAFORM}:
        return ""
    if all(".tfvars" in address for address in root.value):
        return _VALUES
    said = "; ".join(f"{', '.join(names)}: {why}" for why, names in _ways(sections))
    if OTHER_VERSION in sections:
        return said
    return "has no EKS cluster and no node groups, which are all that is read of Terraform; " + (
        said or "name the directory that uses it as a module, or the state of Terraform"
    )


def _ways(sections: set[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each way that remains, and the sections that it is for."""
    for why in dict.fromkeys(OF_TERRAFORM.values()):
        names = [each for each, way in OF_TERRAFORM.items() if way == why and each in sections]
        if names:
            yield why, ["module eks" if each == OTHER_VERSION else each for each in names]


def _unread_of_batch(document: Document) -> str:
    """Return the answer for objects of AWS Batch in the JSON of its API."""
    keys = document.root.value if isinstance(document.root.value, dict) else {}
    if keys.keys().isdisjoint((*_OF_BATCH, *_LISTS_OF_BATCH)):
        return ""
    listed = [document.at(key) for key in _LISTS_OF_BATCH]
    objects = [each for found in listed if isinstance(found, list) for each in found]
    objects = [each for each in [document.at(), *objects] if isinstance(each, dict)]
    names = [
        (key, each[key])
        for key, others in _OF_BATCH.items()
        for each in objects
        if key in each and not each.keys().isdisjoint(others)
    ]
    if not names:
        return ""
    # A job definition belongs to no cluster, so that its name finds none.
    name = next((each for key, each in names if key != "jobDefinitionName"), "NAME")
    live = _LIVE_BATCH.format(name=shlex.quote(str(name)))
    of_what = "" if name != "NAME" else ", by the name of a compute environment or a job queue,"
    return (
        "has objects of AWS Batch in the form of its API, which is not read: import what runs"
        f"{of_what} with {live}, {_TEMPLATE_OF_BATCH}"
    )


_OWN = "./trainyard init"
_GROUPS: Mapping[str, str] = {
    "karpenter.sh": "a manifest of Karpenter",
    "karpenter.k8s.aws": "a manifest of Karpenter",
    "cluster.x-k8s.io": "a manifest of Cluster API",
    "ray.io": "a manifest of KubeRay",
}
"""What a manifest is, by the group of its `apiVersion` or a part of that after a dot:
https://karpenter.sh/docs/concepts/nodepools/, https://cluster-api.sigs.k8s.io/reference/api/crd-relationships
and https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html"""
_OF_SKYPILOT = frozenset(
    (
        *("name", "workdir", "num_nodes", "resources", "envs", "secrets", "volumes"),
        *("file_mounts", "setup", "run", "config", "service", "pool", "experimental"),
    )
)
"""Keys of a task, of which none is required: https://docs.skypilot.co/en/latest/reference/yaml-spec.html"""
_OF_DSTACK = ("task", "service", "dev-environment", "fleet", "gateway", "volume")
"""Values of the required key `type`: https://dstack.ai/docs/reference/dstack.yml/"""


def _of_another_tool(document: Document) -> str:
    """Return what a document of another tool, or of a stack, is; empty if that is not known."""
    found = document.at()
    if not isinstance(found, dict):
        return ""
    if isinstance(found.get("config"), dict) and ROOT in found["config"]:
        stack = document.path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        path = shlex.quote(str(document.path))
        return (
            "is a stack file, which `check` reads: "
            f"`./trainyard check {shlex.quote(stack)} --stack-file {path}`"
        )
    title = _tool(found, document.path)
    return title and f"is {title}, which is not read; `{_OWN}` creates a stack file"


def _tool(found: Mapping[str, Any], path: Path) -> str:
    """Return what a document is, by the keys that its tool requires; empty if none is known."""
    group = str(found.get("apiVersion")).partition("/")[0]
    for known, title in _GROUPS.items():
        if f".{group}".endswith(f".{known}"):
            return title
    provider = found.get("provider")
    # https://docs.ray.io/en/latest/cluster/vms/references/ray-cluster-configuration.html
    if "cluster_name" in found and isinstance(provider, dict) and "type" in provider:
        return "a cluster configuration of Ray"
    groups = found.get("InstanceGroups", found.get("RestrictedInstanceGroups"))
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html
    if "ClusterName" in found and isinstance(groups, list) and "InstanceGroupName" in str(groups):
        return "a cluster of SageMaker HyperPod"
    if found.get("type") in _OF_DSTACK and path.name.endswith((".dstack.yml", ".dstack.yaml")):
        return "a configuration of dstack"
    has_command = any(isinstance(found.get(each), str) for each in ("run", "setup"))
    if has_command and isinstance(found.get("resources"), dict) and found.keys() <= _OF_SKYPILOT:
        return "a task of SkyPilot"
    return ""


_TERRAFORM = (".tf", ".tf.json", ".tfvars", ".tfvars.json", ".tfvars.example")
"""Files of Terraform, which are read with all files of their directory."""


class Conversion(Protocol):
    """What the module `conversion` of a format has."""

    KEYS: KeyTable
    """The keys of its schema."""
    OUTCOMES: OutcomeTable
    """What becomes of the keys that `convert` does not read."""

    WORDS: Mapping[str, str]
    """Keys of the format by those of the stack file that mean the same, for messages of `lint`."""

    def name_of(self, document: Document) -> str:
        """Return the name of the cluster; empty without one."""
        ...

    def convert(self, source: Reader, stack: StackDraft) -> None:
        """Read a document into a stack file."""
        ...


class Format(NamedTuple):
    """A row of the registry."""

    name: str
    """The folder in `src/trainyard/importing`."""
    title: str
    """What users call a file of the format."""
    recognizes: Callable[[Document], bool]
    """Whether a document is one of the format; reads a few keys only."""
    marks: Sequence[str]
    """Texts in files of the format that a stack is made of, also if they are no valid YAML."""
    url: str = ""
    """Its reference, for the rules of its schema."""

    def conversion(self) -> Conversion:
        """Return the conversion, which is imported when a file of the format is read."""
        module: Conversion = import_module(f"trainyard.importing.{self.name}.conversion")  # pyright: ignore[reportAssignmentType]
        return module


def _is_parallelcluster(document: Document) -> bool:
    sections = ("HeadNode", "Scheduling", "Image")
    return sum(document.at(section) is not None for section in sections) >= 2


def _is_eksctl(document: Document) -> bool:
    return document.at("kind") == "ClusterConfig" and "eksctl.io/" in str(document.at("apiVersion"))


def _is_terraform(document: Document) -> bool:
    nodes = document.root.value.values() if isinstance(document.root.value, dict) else ()
    return any(node.section for node in nodes)


def _is_cloudformation(document: Document) -> bool:
    resources = document.at("Resources")
    return isinstance(resources, dict) and any(
        str(each.get("Type")).startswith(("AWS::", CLUSTER_IN_TEMPLATE))
        for each in resources.values()
        if isinstance(each, dict)
    )


FORMATS: Sequence[Format] = (
    Format(
        "parallelcluster",
        "AWS ParallelCluster configuration",
        _is_parallelcluster,
        ("HeadNode:",),
        "https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html",
    ),
    Format(
        "eksctl",
        "eksctl ClusterConfig",
        _is_eksctl,
        ("eksctl.io/",),
        "https://docs.aws.amazon.com/eks/latest/eksctl/schema.html",
    ),
    Format(
        "terraform",
        "Terraform configuration, plan or state",
        _is_terraform,
        ("terraform-aws-modules/eks", "aws_eks_"),
        "https://github.com/terraform-aws-modules/terraform-aws-eks",
    ),
    Format(
        "cloudformation",
        "CloudFormation template",
        _is_cloudformation,
        ("AWS::Batch::", "AWS::EC2::VPC", "Custom::PclusterCluster"),
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-template-resource-type-ref.html",
    ),
)


EKS_ANSWERS = Format("live.eks", "EKS cluster of the account", lambda _: False, ())
BATCH_ANSWERS = Format("live.batch", "compute environments of the account", lambda _: False, ())
"""Answers about a cluster, which no file has."""


def format_named(name: str) -> Format:
    """Return the format of a name."""
    return next(each for each in FORMATS if each.name == name)


def documents_of(path: Path) -> list[Document]:
    """Return the documents of a file, or the document of a directory of Terraform.

    A plan or a state of Terraform is a document of the same form as a directory.

    Raises:
        UnreadableYamlError: a file cannot be read, or is not valid.
    """
    if path.is_dir() or (path.is_file() and _is_terraform_file(path)):
        from trainyard.importing.terraform.documents import read_directory

        return [read_directory(path)]
    return [_as_blocks(each) for each in read_documents(path)]


def source_of(path: Path) -> Path:
    """Return what a file is read as: its directory, if it is one of Terraform that has no values.

    All such files of a directory have the same document.
    """
    is_read_with_all = _is_terraform_file(path) and ".tfvars" not in path.name
    return path.parent if is_read_with_all else path


def _as_blocks(document: Document) -> Document:
    if document.at("format_version") is None:
        return document
    from trainyard.importing.terraform.plan_json import blocks_of, is_plan_or_state

    return blocks_of(document) if is_plan_or_state(document) else document


def without_siblings(paths: Sequence[Path]) -> list[Path]:
    """Return the paths with one file of each directory of Terraform: that with values, if any."""
    chosen: dict[Path, Path] = {}
    for path in paths:
        directory = path.parent.absolute()
        if _is_terraform_file(path) and (directory not in chosen or ".tfvars" in path.name):
            chosen[directory] = path
    return [each for each in paths if not _is_terraform_file(each) or each in chosen.values()]


def _is_terraform_file(path: Path) -> bool:
    return path.name.endswith(_TERRAFORM)


def format_of(document: Document) -> Format | None:
    """Return the format of a document, or None if no format reads anything of it."""
    if why_unread(document):
        return None
    return next((each for each in FORMATS if each.recognizes(document)), None)
