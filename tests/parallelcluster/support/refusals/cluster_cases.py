"""Clusters that are broken as a whole: name, system, head node, scheduler, tags."""

from __future__ import annotations

from tests.parallelcluster.support.refusals.case import QUEUES, YAML_QUEUES, Case

SCHEMA = ("ConfigSchemaValidator",)
SLURM = ("CustomSlurmSettingsValidator",)
_HEAD, _YAML_HEAD = "architecture.head_node", "HeadNode"
_SETTINGS = "Scheduling.SlurmSettings.CustomSlurmSettings"
_RSA_KEY = (
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCd2jddDyCrk2DXgASI115RElkN2SMBO6Y3E7VYiRW/FQTB8"
    "/tRY9mA+LlEiiYKPH8DcFTrhOwE5iAt8d2qvqbSg0/BgJ9oQIl5Ouzr1EO4HeMAe4sGZM8X01s2YQe6s8q+cm"
    "j43NqhoRPH+mZDnWD+/hYYXUYrweiayak/t29Xcw== me"
)

CLUSTER_CASES = (
    Case(
        name="an unknown key",
        ours={"architecture.scheduler": "slurm"},
        theirs={"Scheduling.Schedulers": "slurm"},
        path="architecture.scheduler",
        validators=SCHEMA,
    ),
    Case(
        name="a name with an underscore",
        ours={"name": "pc_broken"},
        cluster="pc_broken",
        path="name",
        validators=("ClusterNameValidator",),
    ),
    Case(
        name="a name that begins with a digit",
        ours={"name": "1-cluster"},
        cluster="1-cluster",
        path="name",
        validators=("ClusterNameValidator",),
    ),
    Case(
        name="a name of 61 characters",
        ours={"name": "p" * 61},
        cluster="p" * 61,
        path="name",
        validators=("ClusterNameValidator",),
    ),
    Case(
        name="an operating system that has left support",
        ours={"architecture.operating_system": "alinux2"},
        theirs={"Image.Os": "alinux2"},
        path="architecture.operating_system",
        validators=SCHEMA,
    ),
    Case(
        name="an operating system without official image",
        ours={"architecture.operating_system": "rocky9"},
        theirs={"Image.Os": "rocky9"},
        path="architecture.custom_ami_id",
        validators=("AWSClientError",),
    ),
    Case(
        name="an image id of another form",
        ours={"architecture.custom_ami_id": "ami-latest"},
        theirs={"Image.CustomAmi": "ami-latest"},
        path="architecture.custom_ami_id",
        validators=SCHEMA,
    ),
    Case(
        name="a tag that ParallelCluster keeps for itself",
        ours={"tags": {"parallelcluster:version": "1"}},
        theirs={"Tags.+": {"Key": "parallelcluster:version", "Value": "1"}},
        path="tags",
        validators=SCHEMA,
    ),
    Case(
        name="41 tags",
        ours={"tags": {f"tag-{number}": "x" for number in range(40)}},
        theirs={"Tags": [{"Key": f"tag-{number}", "Value": "x"} for number in range(41)]},
        path="tags",
        validators=("ComputeResourceTagsValidator",),
    ),
    Case(
        name="a head node of an unknown type",
        ours={f"{_HEAD}.instance_type": "m5.enormous"},
        theirs={f"{_YAML_HEAD}.InstanceType": "m5.enormous"},
        path=f"{_HEAD}.instance_type",
        validators=("AWSClientError",),
    ),
    Case(
        name="a head node too small for its nodes",
        ours={
            f"{_HEAD}.instance_type": "t3.micro",
            f"{QUEUES}.open.compute_resources.g4dn.maximum": 100,
        },
        theirs={
            f"{_YAML_HEAD}.InstanceType": "t3.micro",
            f"{YAML_QUEUES}.open.ComputeResources.g4dn.MaxCount": 100,
        },
        path=f"{_HEAD}.instance_type",
        validators=("HeadNodeMemorySizeValidator",),
    ),
    Case(
        name="a root volume smaller than the official image",
        ours={f"{_HEAD}.root_volume": {"size_gib": 30}},
        theirs={f"{_YAML_HEAD}.LocalStorage.RootVolume.Size": 30},
        path=f"{_HEAD}.root_volume.size_gib",
        validators=("RootVolumeSizeValidator",),
    ),
    Case(
        name="a root volume with more operations than gp3 has",
        ours={f"{_HEAD}.root_volume": {"iops": 17000}},
        theirs={f"{_YAML_HEAD}.LocalStorage.RootVolume.Iops": 17000},
        path=f"{_HEAD}.root_volume.iops",
        validators=("EbsVolumeIopsValidator",),
    ),
    Case(
        name="a root volume with more throughput than its operations carry",
        ours={f"{_HEAD}.root_volume": {"throughput_mibps": 1000}},
        theirs={f"{_YAML_HEAD}.LocalStorage.RootVolume.Throughput": 1000},
        path=f"{_HEAD}.root_volume.throughput_mibps",
        validators=("EbsVolumeThroughputIopsValidator",),
    ),
    Case(
        name="a head node in a subnet of another network",
        ours={f"{_HEAD}.subnet_id": "subnet-0f00000000000000f"},
        theirs={f"{_YAML_HEAD}.Networking.SubnetId": "subnet-0f00000000000000f"},
        path=f"{_HEAD}.subnet_id",
        validators=("AWSClientError",),
    ),
    Case(
        name="a head node with a subnet and a zone",
        ours={f"{_HEAD}.availability_zone": "us-west-2b"},
        path=f"{_HEAD}.subnet_id",
        why="the YAML has no zones",
    ),
    Case(
        name="a key pair and a public key",
        ours={f"{_HEAD}.ssh.public_key": _RSA_KEY},
        path=f"{_HEAD}.ssh.public_key",
        why="the YAML takes no public key",
    ),
    Case(
        name="an RSA public key with Ubuntu",
        ours={
            "architecture.operating_system": "ubuntu2204",
            f"{_HEAD}.ssh": {"public_key": _RSA_KEY},
        },
        theirs={"Image.Os": "ubuntu2204", f"{_YAML_HEAD}.Ssh.KeyName": "rsa"},
        path=f"{_HEAD}.ssh.public_key",
        validators=("KeyPairValidator",),
    ),
    Case(
        name="SSH from something that is no network",
        ours={f"{_HEAD}.ssh.allowed_cidr": "everywhere"},
        theirs={f"{_YAML_HEAD}.Ssh.AllowedIps": "everywhere"},
        path=f"{_HEAD}.ssh.allowed_cidr",
        validators=SCHEMA,
    ),
    Case(
        name="a parameter of slurm.conf that ParallelCluster sets",
        ours={"architecture.slurm": {"settings": {"ResumeTimeout": "1800"}}},
        theirs={_SETTINGS: [{"ResumeTimeout": "1800"}]},
        path="architecture.slurm.settings.ResumeTimeout",
        validators=SLURM,
    ),
    Case(
        name="a parameter of slurm.conf that ParallelCluster sets, in small letters",
        ours={"architecture.slurm": {"settings": {"slurmctldparameters": "idle"}}},
        theirs={_SETTINGS: [{"slurmctldparameters": "idle"}]},
        path="architecture.slurm.settings.slurmctldparameters",
        validators=SLURM,
    ),
    Case(
        name="a node that is named as a managed one",
        ours={"architecture.slurm": {"settings": {"NodeName": "open-st-g4dn-[1-4]"}}},
        theirs={_SETTINGS: [{"NodeName": "open-st-g4dn-[1-4]"}]},
        path="architecture.slurm.settings.NodeName",
        validators=("CustomSlurmNodeNamesValidator",),
    ),
    Case(
        name="idle minutes below -1",
        ours={"architecture.slurm": {"idle_minutes": -2}},
        theirs={"Scheduling.SlurmSettings.ScaledownIdletime": -2},
        path="architecture.slurm.idle_minutes",
        validators=SCHEMA,
    ),
    Case(
        name="an update strategy that does not exist",
        ours={"architecture.slurm": {"queue_update_strategy": "HOPE"}},
        theirs={"Scheduling.SlurmSettings.QueueUpdateStrategy": "HOPE"},
        path="architecture.slurm.queue_update_strategy",
        validators=SCHEMA,
    ),
    Case(
        name="logs kept for two days",
        ours={"architecture.monitoring": {"log_retention_days": 2}},
        theirs={"Monitoring.Logs.CloudWatch.RetentionInDays": 2},
        path="architecture.monitoring.log_retention_days",
        validators=SCHEMA,
    ),
    Case(
        name="a script over FTP",
        ours={f"{_HEAD}.custom_actions": {"on_node_start": [{"script": "ftp://x.org/a.sh"}]}},
        theirs={f"{_YAML_HEAD}.CustomActions.OnNodeStart.Script": "ftp://x.org/a.sh"},
        path=f"{_HEAD}.custom_actions.on_node_start[0].script",
        validators=("AsyncTimedUrlValidator",),
    ),
    Case(
        name="a script that is a bucket",
        ours={f"{_HEAD}.custom_actions": {"on_node_start": [{"script": "s3://scripts"}]}},
        theirs={f"{_YAML_HEAD}.CustomActions.OnNodeStart.Script": "s3://scripts"},
        path=f"{_HEAD}.custom_actions.on_node_start[0].script",
        validators=("AsyncTimedUrlValidator",),
    ),
    Case(
        name="a script of the program that does not run on the operating system",
        ours={
            "architecture.operating_system": "rhel9",
            f"{_HEAD}.custom_actions": {"on_node_configured": [{"script": "docker"}]},
        },
        path=f"{_HEAD}.custom_actions.on_node_configured[0].script",
        why="ParallelCluster reads no script; the cluster would fail 35 minutes later",
    ),
    Case(
        name="a bucket whose name is none",
        ours={f"{_HEAD}.s3_access": [{"bucket": "My_Bucket"}]},
        theirs={f"{_YAML_HEAD}.Iam.S3Access": [{"BucketName": "My_Bucket"}]},
        path=f"{_HEAD}.s3_access[0].bucket",
        validators=SCHEMA,
    ),
)
