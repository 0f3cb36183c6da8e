"""CoreDNS as an add-on."""

import pulumi_aws as aws

from trainyard.components.eks.cluster import CoreDns, CoreDnsArgs


def coredns():
    nodes = aws.ec2.SecurityGroup("nodes")
    args = CoreDnsArgs(
        cluster_name="p5-cb", version="v1.13.1-eksbuild.1", runs_on=nodes, tags={"team": "vision"}
    )
    CoreDns("p5-cb-coredns", args)


def test_the_version_is_pinned_and_the_bundled_coredns_taken_over(deploy):
    """EKX-02."""
    assert deploy(coredns).one("p5-cb-coredns-addon").inputs == {
        "clusterName": "p5-cb",
        "addonName": "coredns",
        "addonVersion": "v1.13.1-eksbuild.1",
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "preserve": True,
        "tags": {"team": "vision"},
    }


def test_it_waits_for_a_node_to_run_on(deploy):
    cloud = deploy(coredns)
    addon = cloud.one("p5-cb-coredns-addon")
    assert cloud.one("nodes").urn in addon.dependencies
    assert addon.parent in cloud.closed
