"""Keep pulumi-eks from writing the `aws-auth` ConfigMap, which has other owners.

In every mode but `API` the package makes a ConfigMap resource `<name>-nodeAccess`
(kube-system/aws-auth) whose `data.mapRoles` holds its own roles only: with none, `[]`. It is
applied on the server side and with force, so each update of it takes the whole string over and
throws away every role that somebody else put there: EKS for managed node groups, our merge for
self-managed ones, people for themselves. Handing it the roles does not help the others, and
ignoring changes of `data` only lasts until another property of the ConfigMap changes: then the
old string is applied again.

So a transform, which reaches the children of a remote component, takes `data` away. The package
then owns the existence of the ConfigMap and not a key of its content. With the step to the mode
`API` it drops the resource, and the ConfigMap stays, for nobody to read.

Source: https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts`, `createCore`.
"""

from __future__ import annotations

import pulumi

CONFIG_MAP_TYPE = "kubernetes:core/v1:ConfigMap"
NODE_ACCESS_SUFFIX = "-nodeAccess"


def leave_aws_auth_to_its_owners(
    args: pulumi.ResourceTransformArgs,
) -> pulumi.ResourceTransformResult | None:
    """Return the package's `aws-auth` without content, and None for every other resource.

    The ConfigMap stays when the resource is deleted: it goes with its cluster, and until then
    taking it away would lock out every node and person that it lists.
    """
    if args.type_ != CONFIG_MAP_TYPE or not args.name.endswith(NODE_ACCESS_SUFFIX):
        return None
    props = {key: value for key, value in args.props.items() if key != "data"}
    opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(retain_on_delete=True))
    return pulumi.ResourceTransformResult(props=props, opts=opts)
