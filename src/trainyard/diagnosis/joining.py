"""Why a running instance does not join its cluster, most likely cause first.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html, "Nodes fail to join
        cluster", which has the same order
    https://docs.aws.amazon.com/systems-manager-automation-runbooks/latest/userguide/automation-awssupport-troubleshooteksworkernode.html
    https://github.com/awslabs/amazon-eks-ami, `nodeadm-config.service` and `nodeadm-run.service`
"""

from __future__ import annotations

from collections.abc import Sequence

LOOK_AT_SANDBOX = "see: daemon.log in the directory that `./trainyard sandbox status` shows"


def causes(*, role_arn: str, let_in: bool | None, managed: bool) -> list[str]:
    """Return the numbered causes, most likely first.

    Args:
        role_arn: IAM role of the nodes; empty if unknown.
        let_in: Whether the cluster's aws-auth or an access entry names the role; None if unknown.
        managed: Whether EKS starts the nodes and generates their user data.
    """
    role = role_arn or "of the nodes"
    access = f"access: the role {role} must be in aws-auth or have an access entry"
    if let_in is not None:
        access += "; it is" if let_in else "; it is in neither, and `./trainyard up` restores it"
    user_data = "user data: nodeadm exits if its NodeConfig is invalid or names another cluster"
    route = (
        "route: the subnet needs a route to the API server, STS, EC2, ECR and S3, through a NAT "
        "gateway or endpoints"
    )
    group = "security group: that of the cluster must allow the nodes on port 443"
    found = [route, group] if let_in else [access, route, group]
    if not managed:
        found.insert(0 if let_in else 1, user_data)
    known = [access] if let_in else []
    return [f"{number}. {cause}" for number, cause in enumerate([*found, *known], start=1)]


def commands(*, region: str, cluster: str, instance_ids: Sequence[str], sandbox: bool) -> list[str]:
    """Return commands that show why the first of these instances has not joined."""
    if sandbox:
        return [LOOK_AT_SANDBOX]
    if not instance_ids:
        return []
    first = instance_ids[0]
    return [
        (
            f"aws ec2 get-console-output --region {region} --instance-id {first} --latest "
            "--output text"
        ),
        (
            f"aws ssm start-session --region {region} --target {first}    # then: sudo journalctl "
            "-u nodeadm-config -u nodeadm-run -u kubelet"
        ),
        (
            f"aws ssm start-automation-execution --region {region} --document-name "
            "AWSSupport-TroubleshootEKSWorkerNode --parameters "
            f"ClusterName={cluster},WorkerID={first}"
        ),
    ]
