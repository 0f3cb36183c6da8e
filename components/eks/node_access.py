"""Prevent pulumi-eks from writing the `aws-auth` ConfigMap, which has other owners.

In every authentication mode except `API`, the package creates a ConfigMap resource
`<name>-nodeAccess` (kube-system/aws-auth). Its `data.mapRoles` holds only the package's own roles,
or `[]`. It uses server-side apply with force, so each update replaces the whole string and removes
every other role: those of EKS for managed node groups, of this program for self-managed ones, and
of users. Passing the roles to the package does not keep the others. Ignoring changes of `data`
works only until another property of the ConfigMap changes: then the old string is applied again.

Therefore a transform, which also applies to children of a remote component, removes `data`. The
package then owns the ConfigMap but none of its keys. In the mode `API` the package drops the
resource. The ConfigMap stays but is not read.

Source: https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts`, `createCore`.
"""

from __future__ import annotations

import pulumi

CONFIG_MAP_TYPE = "kubernetes:core/v1:ConfigMap"
NODE_ACCESS_SUFFIX = "-nodeAccess"


def leave_aws_auth_to_its_owners(
    args: pulumi.ResourceTransformArgs,
) -> pulumi.ResourceTransformResult | None:
    """Return the package's `aws-auth` without `data`, or None for every other resource.

    Deleting the resource keeps the ConfigMap, which is deleted with its cluster. Deleting it
    earlier would lock out every node and user that it lists.
    """
    if args.type_ != CONFIG_MAP_TYPE or not args.name.endswith(NODE_ACCESS_SUFFIX):
        return None
    props = {key: value for key, value in args.props.items() if key != "data"}
    opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(retain_on_delete=True))
    return pulumi.ResourceTransformResult(props=props, opts=opts)
