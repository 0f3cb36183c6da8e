"""Our keys for the words of eksctl, ParallelCluster, Terraform, Karpenter and the AWS API.

Sources: https://eksctl.io/usage/schema/, the pages of ParallelCluster's configuration file
(https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html),
https://registry.terraform.io/modules/terraform-aws-modules/eks/aws/latest,
https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html and
https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

_RESERVED = "add the reservation to `reservations`, and give the name of that entry"
_NETWORK = "it belongs to `network`"
_STORAGE = "file systems are entries of `storage`"

_WORDS: Mapping[tuple[str, ...], str] = {
    ("minimum",): "min minsize mincount minvcpus mincapacity minnodes minimumsize minimumcount",
    ("maximum",): "max maxsize maxcount maxvcpus maxcapacity maxnodes maximumsize maximumcount",
    ("desired", "minimum"): (
        "desiredcapacity desiredsize desiredcount desiredvcpus desirednodes count replicas "
        "nodecount numnodes initialcount"
    ),
    ("efa_enabled",): "efa enableefa efasupport enableefasupport useefa efaonly",
    ("instance_type",): "instancetypes instances type machinetype nodetype ec2instancetype",
    ("subnet_ids", "subnet_id", "private_subnet_ids"): "subnets subnet subnetid subnetids",
    ("private_subnet_ids",): "private privatesubnets privatesubnetids",
    ("public_subnet_ids", "public_subnets"): "public publicsubnetids",
    ("purchase_option",): (
        "capacityreservation capacityreservationid capacityreservationtarget capacitytype "
        "capacityreservationspecification marketoptions spot instancemarketoptions lifecycle"
    ),
    ("reservations",): "capacityreservations",
    ("reservation_id",): "capacityreservationid id capacityblockid capacityblockreservationid",
    ("group_arn",): "capacityreservationresourcegrouparn resourcegrouparn",
    ("placement",): "placementgroup placementgroupname enableplacementgroup",
    ("availability_zone", "availability_zones"): (
        "availabilityzones availabilityzoneid zone zones az azs"
    ),
    ("kubernetes_version",): "version clusterversion k8sversion eksversion",
    ("node_groups",): "nodegroup managednodegroups eksmanagednodegroups selfmanagednodegroups",
    ("system_node_group",): "systemnodes systemnodepool defaultnodegroup",
    ("queues",): "slurmqueues jobqueues partitions",
    ("compute_environments",): "computeenvironment",
    ("compute_resources",): "computeresource nodepools",
    ("custom_ami_id",): "ami amiid imageid customami",
    ("operating_system",): "os operatingsystem",
    ("root_volume",): "volume rootvolume disk blockdevicemappings localstorage",
    ("size_gib", "root_volume"): "size volumesize disksize diskgib storagesize",
    ("storage_capacity_gib",): "storagecapacity capacity size sizegib",
    ("throughput_mibps",): "throughput volumethroughput",
    ("iops",): "volumeiops",
    ("key_name", "ssh_key_name"): "keyname keypair sshkey sshkeyname ec2keyname ec2sshkey",
    ("kms_key_arn",): "kmskeyid kmskey",
    ("mount_directory",): "mountdir mountpoint mountpath mount",
    ("file_system_id",): "filesystemid fsid",
    ("vpc_id",): "vpc id vpcid",
    ("cidr",): "cidrblock vpccidr vpccidrblock",
    ("nat_gateways",): "nat natgateway enablenatgateway singlenatgateway",
    ("endpoint",): "clusterendpoints endpoints clusterendpointaccess",
    ("public_access",): "endpointpublicaccess clusterendpointpublicaccess",
    ("private_access",): "endpointprivateaccess clusterendpointprivateaccess",
    ("public_access_cidrs",): "publicaccesscidr endpointpublicaccesscidrs",
    ("log_types",): "logging enabledclusterlogtypes clusterlogging cloudwatchlogging",
    ("secrets_key_arn",): "secretsencryption encryptionconfig clusterencryptionconfig",
    ("iam_policies",): "additionaliampolicies attachpolicyarns iamroleadditionalpolicies",
    ("addon_policies",): "withaddonpolicies",
    ("idle_minutes",): "scaledownidletime",
    ("settings", "slurm_settings"): "customslurmsettings",
    ("on_node_start",): "onnodestarted preinstall",
    ("on_node_configured",): "postinstall",
    ("arguments",): "args",
    ("simultaneous_multithreading",): "disablesimultaneousmultithreading threadspercore",
    ("exclusive_jobs",): "jobexclusiveallocation",
    ("schedulable_memory_mib",): "schedulablememory",
    ("write",): "enablewriteaccess",
    ("bucket",): "bucketname",
    ("key",): "keyname",
    ("per_unit_storage_throughput",): "perunitthroughput",
    ("name",): "clustername",
}
"""Words of other tools in small letters without separators, by our keys; the first of them that
exists at the place is meant."""

_HINTS: Mapping[str, str] = {
    "purchase_option": _RESERVED,
    "simultaneous_multithreading": "it has the opposite meaning, so change the value too",
    "iam_policies": "give names of AWS managed policies, not ARNs",
}
_ELSEWHERE: Mapping[str, tuple[str, str]] = {
    "region": ("aws:region", "set `aws:region` under `config` in the stack file"),
    "profile": ("aws:profile", "set `aws:profile` under `config` in the stack file"),
    "vpc": ("network", _NETWORK),
    "vpcid": ("network.vpc_id", _NETWORK),
    "networking": ("network", _NETWORK),
    "subnets": ("network", _NETWORK),
    "subnetids": ("network.private_subnet_ids", _NETWORK),
    "availabilityzones": ("network.availability_zones", _NETWORK),
    "sharedstorage": ("storage", _STORAGE),
    "filesystems": ("storage", _STORAGE),
    "nodegroups": ("architecture.node_groups", "move it below `architecture`"),
    "managednodegroups": ("architecture.node_groups", "move it below `architecture`"),
    "headnode": ("architecture.head_node", "move it below `architecture`"),
    "scheduling": ("architecture.queues", "queues are entries of `architecture.queues`"),
    "slurmqueues": ("architecture.queues", "queues are entries of `architecture.queues`"),
    "kubernetesversion": ("architecture.kubernetes_version", "move it below `architecture`"),
    "capacityreservation": ("reservations", _RESERVED),
    "capacityreservationid": ("reservations", _RESERVED),
    "maxprice": ("purchase_option", "set `purchase_option: spot`; the price limit is On-Demand's"),
    "spotprice": ("purchase_option", "set `purchase_option: spot`; the price limit is On-Demand's"),
}
"""Keys of another level by the same words: where they belong, and how."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Our key for a word of another tool."""

    ours: str
    """The key, or its path if it belongs elsewhere."""
    here: bool
    """Whether it is a key of the same section."""
    hint: str = ""
    """What to change besides the name."""


def foreign_key(word: str, keys: Collection[str]) -> ForeignKey | None:
    """Return our key for a word of another tool, or None; `keys` are those of the section."""
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    same = next((key for key in keys if key.replace("_", "") == plain), None)
    if same is not None:
        return ForeignKey(same, here=True)
    ours = next((key for key in _candidates(plain) if key in keys), None)
    if ours is not None:
        return ForeignKey(ours, here=True, hint=_HINTS.get(ours, ""))
    path, hint = _ELSEWHERE.get(plain, ("", ""))
    return ForeignKey(path, here=False, hint=hint) if path else None


def _candidates(plain: str) -> Iterator[str]:
    for ours, words in _WORDS.items():
        if plain in words.split():
            yield from ours
