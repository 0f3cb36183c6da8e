"""The `aws-auth` ConfigMap that pulumi-eks creates."""

import pulumi

from trainyard.components.eks.cluster import leave_aws_auth_to_its_owners

PROPS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "immutable": False,
    "metadata": {
        "name": "aws-auth",
        "namespace": "kube-system",
        "annotations": {"pulumi.com/patchForce": "true"},
    },
    "data": {"mapRoles": "[]\n"},
}


def registered(type_, name, props=PROPS):
    return pulumi.ResourceTransformArgs(
        custom=True, type_=type_, name=name, props=props, opts=pulumi.ResourceOptions()
    )


def test_the_package_owns_no_key_of_the_map():
    """PR-25: an update with the package's `[]` would remove every other role."""
    result = leave_aws_auth_to_its_owners(
        registered("kubernetes:core/v1:ConfigMap", "p5-cb-eks-nodeAccess")
    )
    assert result is not None
    assert result.props == {key: value for key, value in PROPS.items() if key != "data"}


def test_the_map_stays_until_its_cluster_goes():
    result = leave_aws_auth_to_its_owners(
        registered("kubernetes:core/v1:ConfigMap", "p5-cb-eks-nodeAccess")
    )
    assert result is not None
    assert result.opts.retain_on_delete is True


def test_what_was_given_is_left_as_it_was():
    leave_aws_auth_to_its_owners(registered("kubernetes:core/v1:ConfigMap", "p5-cb-eks-nodeAccess"))
    assert PROPS["data"] == {"mapRoles": "[]\n"}


def test_other_children_of_the_package_are_left_alone():
    for type_, name in [
        ("kubernetes:core/v1:ConfigMap", "settings"),
        ("aws:eks/cluster:Cluster", "p5-cb-eks-eksCluster"),
        ("eks:index:Cluster", "p5-cb-nodeAccess"),
    ]:
        assert leave_aws_auth_to_its_owners(registered(type_, name)) is None
