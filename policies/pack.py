"""Every rule of the pack, by domain. Importing this module starts nothing."""

from __future__ import annotations

from policies.rules.batch import compute_environment_updatable
from policies.rules.capacity import (
    auto_scaling_group_placement_group,
    capacity_block_no_placement_group,
    capacity_block_triple,
    eks_capacity_block_node_group,
    odcr_aws_assisted_no_placement_group,
    parallelcluster_placement_group,
    reservation_only_preference,
)
from policies.rules.efa import (
    efa_interface_count,
    efa_interface_layout,
    efa_security_group_self_reference,
    efa_single_zone,
)
from policies.rules.security import ebs_encrypted, imdsv2_required
from policies.rules.storage import lustre_ports_open, shared_storage_protected

PACK_NAME = "trainyard"

POLICIES = (
    odcr_aws_assisted_no_placement_group.POLICY,
    capacity_block_no_placement_group.POLICY,
    auto_scaling_group_placement_group.POLICY,
    parallelcluster_placement_group.POLICY,
    capacity_block_triple.POLICY,
    eks_capacity_block_node_group.POLICY,
    reservation_only_preference.POLICY,
    efa_interface_count.POLICY,
    efa_interface_layout.POLICY,
    efa_security_group_self_reference.POLICY,
    efa_single_zone.POLICY,
    imdsv2_required.POLICY,
    ebs_encrypted.POLICY,
    shared_storage_protected.POLICY,
    lustre_ports_open.POLICY,
    compute_environment_updatable.POLICY,
)
