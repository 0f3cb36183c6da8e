# A Capacity Block in the second zone of a new VPC, with version 20 of the module.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.34, < 6.0" }
  }
}

provider "aws" {
  region = local.region
}

locals {
  name   = "p5-${var.environment}"
  region = "us-west-2"
  azs    = ["us-west-2a", "us-west-2b", "us-west-2c"]
  tags = {
    Team = "research"
  }
}

module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 20.37"

  cluster_name                   = local.name
  cluster_version                = "1.35"
  cluster_endpoint_public_access = true

  enable_cluster_creator_admin_permissions = true
  bootstrap_self_managed_addons            = false

  cluster_addons = {
    coredns                   = {}
    eks-node-monitoring-agent = {}
    eks-pod-identity-agent    = { before_compute = true }
    kube-proxy                = {}
    vpc-cni                   = { most_recent = true, before_compute = true }
    aws-ebs-csi-driver        = { addon_version = "v1.50.1-eksbuild.1" }
    metrics-server            = {}
  }

  vpc_id     = module.vpc.vpc_id
  subnet_ids = module.vpc.private_subnets

  eks_managed_node_group_defaults = {
    node_repair_config = { enabled = true }
    block_device_mappings = {
      xvda = {
        device_name = "/dev/xvda"
        ebs         = { volume_size = 500, volume_type = "gp3", throughput = 250 }
      }
    }
  }

  eks_managed_node_groups = merge(
    {
      services = {
        instance_types = ["m6i.2xlarge"]
        min_size       = 2
        max_size       = 4
        desired_size   = 2
      }
    },
    { p5 = local.p5 },
  )

  tags = local.tags
}
