"""A self-managed node group: a launch template and an Auto Scaling group.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/self-managed-nodes.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from trainyard.components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from trainyard.components.eks.node_group_args import NodeGroupArgs, placement_group_name
from trainyard.components.eks.node_group_metrics import GRANULARITY, RUNNING, WANTED
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.node_group_schedule import NodeGroupSchedule, NodeGroupScheduleArgs
from trainyard.components.eks.nodeadm_plan import render_self_managed_user_data
from trainyard.components.identity.addon_policies import autoscaler_tags
from trainyard.components.identity.instance_profile import (
    NodeInstanceProfile,
    NodeInstanceProfileArgs,
)
from trainyard.components.naming import AUTO_SCALING_GROUP, LAUNCH

WAIT_FOR_CAPACITY = "20m"
"""A p5.48xlarge takes up to 10 minutes from launch to in service."""
NO_WAIT = "0"
SIZES = ["minSize", "desiredCapacity", "maxSize"]


class SelfManagedNodeGroup(pulumi.ComponentResource):
    """Nodes in an Auto Scaling group that the stack owns.

    Before a Capacity Block starts, the group is empty, `up` does not wait for nodes, and a schedule
    scales it at the start. Until then the schedule owns the sizes: an update planned before the
    start and applied after it would empty the group. Afterwards plan and schedule agree, and size
    changes in the stack file take effect.

    A new template version applies to new nodes only, because replacing a node would end its
    training job. To replace the nodes, scale the group in and out.

    Children: `<name>-instance` (`NodeInstanceProfile`), `<name>-launch` (`NodeLaunchTemplate`),
    `<name>-placement` (`ClusterPlacementGroup`, where planned), `<name>-nodes`
    (`aws.autoscaling.Group`), `<name>-schedule` (`NodeGroupSchedule`, where planned).
    """

    group_name: pulumi.Output[str]
    """Name of the Auto Scaling group."""
    ready: pulumi.Resource
    """The resource that exists once the nodes are in service."""

    def __init__(
        self,
        name: str,
        args: NodeGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:SelfManagedNodeGroup", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        schedule = args.plan.schedule
        template = self._launch_template(name, args, child)

        group = aws.autoscaling.Group(
            f"{name}{AUTO_SCALING_GROUP}",
            min_size=schedule.minimum,
            desired_capacity=schedule.desired,
            max_size=schedule.maximum,
            vpc_zone_identifiers=list(args.subnet_ids),
            launch_template=aws.autoscaling.GroupLaunchTemplateArgs(
                id=template.launch_template_id, version=template.version
            ),
            health_check_type="EC2",
            wait_for_capacity_timeout=_wait(args.plan),
            enabled_metrics=_group_metrics(args),
            metrics_granularity=GRANULARITY if args.group_metrics else None,
            tags=_group_tags(args),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.launch_after],
                ignore_changes=SIZES if schedule.scale_up_at else None,
                # The reservation has no instances left for new nodes while the old ones run.
                delete_before_replace=args.plan.capacity.is_reserved,
            ),
        )
        if schedule.moved_by_schedule:
            NodeGroupSchedule(
                f"{name}-schedule",
                NodeGroupScheduleArgs(group_name=group.name, schedule=schedule),
                child,
            )

        self.group_name = group.name
        self.ready = group
        self.register_outputs({"group_name": self.group_name})

    @property
    def auto_scaling_group(self) -> pulumi.Output[str]:
        """Name of the Auto Scaling group."""
        return self.group_name

    def _launch_template(
        self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions
    ) -> NodeLaunchTemplate:
        plan, access = args.plan, args.access
        image = aws.ssm.get_parameter_output(
            name=plan.ami_ssm_parameter, opts=pulumi.InvokeOptions(parent=self)
        )
        profile = NodeInstanceProfile(
            f"{name}-instance",
            NodeInstanceProfileArgs(role_name=args.role.role_name, tags=args.tags),
            opts,
        )
        return NodeLaunchTemplate(
            f"{name}{LAUNCH}",
            NodeLaunchTemplateArgs(
                instance_type=plan.instance_type.name,
                capacity=plan.capacity,
                reservation_id=args.reservation_id,
                reservation_group_arn=args.target_group_arn,
                market_type=plan.capacity.market_type,
                interfaces=plan.interfaces,
                cluster_security_group_id=access.security_group_id,
                efa_security_group_id=args.efa_security_group_id,
                placement_group_name=placement_group_name(name, args, opts),
                root_volume=plan.root_volume,
                metadata_hop_limit=plan.metadata_hop_limit,
                user_data=_user_data(args),
                # AMI ids are public; a secret id would hide the whole template in previews.
                image_id=pulumi.Output.unsecret(image.value),
                instance_profile_arn=profile.arn,
                ssh_key_name=plan.ssh_key_name,
                node_name=args.node_name,
                tags=args.tags,
            ),
            opts,
        )


def _user_data(args: NodeGroupArgs) -> pulumi.Output[str]:
    access = args.access
    return pulumi.Output.all(
        cluster_name=access.cluster_name,
        endpoint=access.endpoint,
        certificate_authority=access.certificate_authority,
        service_cidr=access.service_cidr,
    ).apply(lambda known: render_self_managed_user_data(args.plan, **known))


def _wait(plan: NodeGroupPlan) -> str:
    return WAIT_FOR_CAPACITY if plan.schedule.wait_for_capacity else NO_WAIT


def _group_metrics(args: NodeGroupArgs) -> list[aws.autoscaling.Metric] | None:
    if not args.group_metrics:
        return None
    return [aws.autoscaling.Metric(name) for name in (WANTED, RUNNING)]


def _group_tags(args: NodeGroupArgs) -> list[aws.autoscaling.GroupTagArgs]:
    tags = {
        "Name": args.node_name,
        # This tag marks the instances of the cluster. The program's security groups never have it.
        f"kubernetes.io/cluster/{args.cluster_name}": "owned",
        **_autoscaler_tags(args),
        **args.tags,
    }
    return [
        aws.autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=True)
        for key, value in tags.items()
    ]


def _autoscaler_tags(args: NodeGroupArgs) -> dict[str, str]:
    # EKS tags managed groups for the Cluster Autoscaler. Self-managed groups need the tags here.
    return autoscaler_tags(args.cluster_name) if "autoscaler" in args.plan.addon_policies else {}
