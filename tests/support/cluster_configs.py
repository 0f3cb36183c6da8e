"""ParallelCluster configurations: for the sandbox's account, and of a cluster that is up."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import yaml

from tests.support.parallelcluster import p4de_plan
from tests.support.sandbox_aws import ODCR_IN_GROUP
from trainyard.components.config.parallelcluster import Slurm
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.update_verdicts import UpdateCondition

GPU_IMAGE, OLD_IMAGE = "ami-0c00000000000a231", "ami-0c0000000000bad01"
NEURON_IMAGE = "ami-0c000000000022042"
TRAINIUM_ODCR = "cr-00d00000000000003"
P4DE_GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/p4de-reservations"
EFS, LUSTRE = "fs-0ef50000000000001", "fs-0f5c0000000000001"
OPENZFS_VOLUME = "fsvol-0f5c0000000000002"
SCRIPT = "s3://trainyard-sandbox-scripts/post-install.sh"

Config = dict[str, Any]

_P4DE = f"""
Region: us-west-2
Image: {{Os: alinux2023, CustomAmi: {GPU_IMAGE}}}
HeadNode:
  InstanceType: m5.8xlarge
  Networking: {{SubnetId: subnet-0b000000000000001}}
  Ssh: {{KeyName: sandbox}}
  Iam:
    AdditionalIamPolicies:
      - {{Policy: "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"}}
      - {{Policy: "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"}}
      - {{Policy: "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly"}}
  CustomActions: {{OnNodeConfigured: {{Script: "{SCRIPT}"}}}}
Scheduling:
  Scheduler: slurm
  SlurmQueues:
    - Name: train
      Networking:
        SubnetIds: [subnet-0b000000000000002]
        PlacementGroup: {{Enabled: false}}
      CustomActions:
        OnNodeStart: {{Sequence: [{{Script: "https://example.com/docker.sh", Args: ["1"]}}]}}
      ComputeResources:
        - Name: p4de
          InstanceType: p4de.24xlarge
          MinCount: 2
          MaxCount: 2
          Efa: {{Enabled: true}}
          CapacityReservationTarget: {{CapacityReservationId: {ODCR_IN_GROUP}}}
SharedStorage:
  - Name: fsx
    MountDir: /fsx
    StorageType: FsxLustre
    FsxLustreSettings:
      {{StorageCapacity: 4800, DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250}}
  - {{Name: apps, MountDir: /apps, StorageType: Ebs, EbsSettings: {{VolumeType: gp3, Size: 200}}}}
"""


def p4de(*changes: Callable[[Config], None]) -> Config:
    """Return a static p4de cluster in the reserved placement group, with changes."""
    config = yaml.safe_load(_P4DE)
    for change in changes:
        change(config)
    return copy.deepcopy(config)


def queue(config: Config) -> Config:
    """Return its only queue."""
    return config["Scheduling"]["SlurmQueues"][0]


def nodes(config: Config) -> Config:
    """Return the only compute resource of its queue."""
    return queue(config)["ComputeResources"][0]


def setting(path: str, value: object) -> Callable[[Config], None]:
    """Return a change that sets the value at a path such as `HeadNode/Ssh/KeyName`."""

    def change(config: Config) -> None:
        *parents, last = path.split("/")
        place: Any = config
        for key in parents:
            place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
        place[int(last) if isinstance(place, list) else last] = value

    return change


def existing_storage(config: Config) -> None:
    """Mount the account's own file systems of three kinds."""
    config["SharedStorage"] = [
        storage("efs", "/home2", "Efs", FileSystemId=EFS),
        storage("fsx", "/fsx", "FsxLustre", FileSystemId=LUSTRE),
        storage("zfs", "/zfs", "FsxOpenZfs", VolumeId=OPENZFS_VOLUME),
    ]


def storage(name: str, mount: str, kind: str, **settings: object) -> Config:
    """Return one shared storage."""
    return {"Name": name, "MountDir": mount, "StorageType": kind, f"{kind}Settings": settings}


def trainium(config: Config) -> None:
    """Use sixteen reserved trn1.32xlarge on Ubuntu, in the zone of their reservation."""
    config["Image"] = {"Os": "ubuntu2204", "CustomAmi": NEURON_IMAGE}
    config["HeadNode"]["Networking"]["SubnetId"] = "subnet-0d000000000000001"
    queue(config)["Networking"]["SubnetIds"] = ["subnet-0d000000000000002"]
    nodes(config).update(
        Name="trn1",
        InstanceType="trn1.32xlarge",
        MinCount=16,
        MaxCount=16,
        CapacityReservationTarget={"CapacityReservationId": TRAINIUM_ODCR},
    )


FIRST_QUEUE = "Scheduling.SlurmQueues.0"
FIRST_RESOURCE = f"{FIRST_QUEUE}.ComputeResources.0"


def deployed(strategy: str = "DRAIN", plan: Any = None) -> Config:
    """Return the configuration of a p4de cluster that is up, with ids in place of references."""
    chosen = plan or p4de_plan()
    slurm = Slurm(**{**chosen.slurm.model_dump(), "queue_update_strategy": strategy})
    return resolve(render_cluster(replace(chosen, slurm=slurm)), id_of)


SCRIPT_BUCKET = "parallelcluster-scripts-20261128120000000000000001"


def id_of(reference: Reference) -> str:
    """Return an id for a reference; subnets of an existing VPC are already ids."""
    if reference.kind == "node-script":
        return f"s3://{SCRIPT_BUCKET}/{reference.name}"
    return SCRIPT_BUCKET if reference.kind == "script-bucket" else reference.name


def texts(value: Any) -> Any:
    """Return a document as CloudFormation passes it on: every scalar is a string."""
    if isinstance(value, dict):
        return {key: texts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [texts(each) for each in value]
    return json.dumps(value) if isinstance(value, bool | int) else value


@dataclass(frozen=True, kw_only=True)
class UpdateCase:
    """One change, and the verdict on it while the fleet runs."""

    name: str
    changed: Callable[[Config], None]
    way: UpdateCondition | None
    """None if ParallelCluster accepts it."""
    key: str = ""
    """Key of the stack file that the refusal names, below `trainyard:cluster`."""
    strategy: str = "DRAIN"
    before: Callable[[Config], None] | None = None
    """Differences of the deployed configuration from the p4de cluster."""

    def configurations(self) -> tuple[Config, Config]:
        """Return the configuration that is deployed, and the wanted one."""
        old = deployed(self.strategy)
        if self.before:
            self.before(old)
        new = copy.deepcopy(old)
        self.changed(new)
        return old, new


def put(path: str, value: Any) -> Callable[[Config], None]:
    """Return a function that sets a value; list entries are addressed by index."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        holder[key] = value

    return change


def drop(path: str) -> Callable[[Config], None]:
    """Return a function that removes a key, or an item of a list."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        del holder[key]

    return change


def add(path: str, item: Any) -> Callable[[Config], None]:
    """Return a function that appends an item to a list."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        holder[key].append(copy.deepcopy(item))

    return change


def both(*changes: Callable[[Config], None]) -> Callable[[Config], None]:
    """Return a function that makes several changes."""

    def change(config: Config) -> None:
        for each in changes:
            each(config)

    return change


def _holder(config: Any, path: str) -> tuple[Any, Any]:
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        config = config[part]
    return config, last
