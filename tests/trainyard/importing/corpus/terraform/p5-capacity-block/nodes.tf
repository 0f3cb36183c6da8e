locals {
  p5 = {
    ami_type       = "AL2023_x86_64_NVIDIA"
    instance_types = ["p5.48xlarge"]
    subnet_ids     = [element(module.vpc.private_subnets, 1)]

    min_size     = 0
    max_size     = var.nodes
    desired_size = var.nodes

    enable_efa_support = true
    capacity_type      = "CAPACITY_BLOCK"
    instance_market_options = {
      market_type = "capacity-block"
    }
    capacity_reservation_specification = {
      capacity_reservation_target = {
        capacity_reservation_id = var.reservation_id
      }
    }

    cloudinit_pre_nodeadm = [{
      content_type = "application/node.eks.aws"
      content      = <<-EOT
        apiVersion: node.eks.aws/v1alpha1
        kind: NodeConfig
        spec:
          instance:
            localStorage:
              strategy: RAID0
      EOT
    }]

    labels = { "nvidia.com/gpu.present" = "true" }
    taints = {
      gpu = { key = "nvidia.com/gpu", value = "true", effect = "NO_SCHEDULE" }
    }
  }
}
