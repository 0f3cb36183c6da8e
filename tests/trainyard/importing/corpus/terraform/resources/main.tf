# A cluster of resources without modules: VPC, node groups with launch templates, FSx for Lustre.
provider "aws" {
  region = var.region
}

variable "region" {
  default = "eu-north-1"
}

variable "zones" {
  default = ["eu-north-1a", "eu-north-1b"]
}

resource "aws_vpc" "main" {
  cidr_block           = "172.20.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_subnet" "private" {
  count             = length(var.zones)
  vpc_id            = aws_vpc.main.id
  availability_zone = var.zones[count.index]
  cidr_block        = cidrsubnet(aws_vpc.main.cidr_block, 4, count.index)
}

resource "aws_subnet" "public" {
  for_each                = toset(var.zones)
  vpc_id                  = aws_vpc.main.id
  availability_zone       = each.key
  cidr_block              = cidrsubnet(aws_vpc.main.cidr_block, 4, 8 + index(var.zones, each.value))
  map_public_ip_on_launch = true
}

resource "aws_nat_gateway" "main" {
  allocation_id = aws_eip.nat.id
  subnet_id     = aws_subnet.public["eu-north-1a"].id
}

resource "aws_eip" "nat" {
  domain = "vpc"
}

resource "aws_eks_cluster" "main" {
  name     = "nordic"
  role_arn = aws_iam_role.cluster.arn
  version  = "1.36"

  vpc_config {
    subnet_ids              = concat(aws_subnet.private[*].id, values(aws_subnet.public)[*].id)
    endpoint_private_access = true
  }
  access_config {
    authentication_mode = "API_AND_CONFIG_MAP"
  }
  enabled_cluster_log_types = ["api"]
}

resource "aws_iam_role" "cluster" {
  name               = "nordic"
  assume_role_policy = jsonencode({ Version = "2012-10-17" })
}

resource "aws_launch_template" "g6e" {
  name          = "g6e"
  instance_type = "g6e.48xlarge"

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 300
      volume_type = "gp3"
      encrypted   = false
    }
  }
  dynamic "network_interfaces" {
    for_each = range(4)
    content {
      network_card_index = network_interfaces.value
      device_index       = network_interfaces.value == 0 ? 0 : 1
      interface_type     = network_interfaces.value == 0 ? "efa" : "efa-only"
    }
  }
  placement {
    group_name = "my-group"
  }
}

resource "aws_eks_node_group" "g6e" {
  cluster_name    = aws_eks_cluster.main.name
  node_group_name = "g6e"
  node_role_arn   = aws_iam_role.cluster.arn
  subnet_ids      = [aws_subnet.private[1].id]

  launch_template {
    id      = aws_launch_template.g6e.id
    version = aws_launch_template.g6e.latest_version
  }
  scaling_config {
    min_size     = 0
    desired_size = 2
    max_size     = 2
  }
  taint {
    key    = "nvidia.com/gpu"
    effect = "NO_SCHEDULE"
  }
}

resource "aws_eks_node_group" "services" {
  cluster_name   = aws_eks_cluster.main.name
  node_role_arn  = aws_iam_role.cluster.arn
  subnet_ids     = aws_subnet.private[*].id
  instance_types = ["m7i.large"]
  scaling_config {
    min_size     = 1
    desired_size = 1
    max_size     = 2
  }
}

resource "aws_eks_addon" "pod_identity" {
  cluster_name = aws_eks_cluster.main.name
  addon_name   = "eks-pod-identity-agent"
}

resource "aws_fsx_lustre_file_system" "scratch" {
  storage_capacity            = 4800
  deployment_type             = "PERSISTENT_2"
  per_unit_storage_throughput = 250
  subnet_ids                  = [aws_subnet.private[1].id]
  security_group_ids          = []
}
