# Version 21 of the module in a VPC that the files do not have: an ODCR, Spot, and own node groups.
provider "aws" {
  region = "us-east-1"
}

data "aws_vpc" "shared" {
  tags = { Name = "shared" }
}

resource "aws_ec2_capacity_reservation" "p4d" {
  instance_type           = "p4d.24xlarge"
  instance_platform       = "Linux/UNIX"
  availability_zone       = "us-east-1b"
  instance_count          = 4
  instance_match_criteria = "targeted"
}

module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"

  name                = "research"
  kubernetes_version  = "1.36"
  authentication_mode = "API"

  endpoint_public_access_cidrs = ["203.0.113.0/24"]
  endpoint_public_access       = true

  addons = {
    aws-fsx-csi-driver = { most_recent = true, configuration_values = jsonencode({ controller = { replicas = 1 } }) }
  }
  access_entries = {
    admins = { principal_arn = "arn:aws:iam::123456789012:role/admins" }
  }

  vpc_id     = data.aws_vpc.shared.id
  subnet_ids = var.subnet_ids

  eks_managed_node_groups = {
    p4d = {
      instance_types = ["p4d.24xlarge"]
      min_size       = 4
      max_size       = 4
      desired_size   = 4
      subnet_ids     = ["subnet-0123456789abcdef1"]

      enable_efa_support = true
      capacity_reservation_specification = {
        capacity_reservation_target = {
          capacity_reservation_id = aws_ec2_capacity_reservation.p4d.id
        }
      }
    }
    batch_spot = {
      ami_type       = "BOTTLEROCKET_x86_64"
      capacity_type  = "SPOT"
      instance_types = ["g5.8xlarge", "g5.12xlarge"]
      disk_size      = 10
      scale          = 3
    }
  }
  self_managed_node_groups = {
    trn1 = {
      instance_type = "trn1.32xlarge"
      desired_size  = 2
      iam_role_additional_policies = {
        s3 = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
      }
      key_name = "training"
    }
  }
}

variable "subnet_ids" {
  type = list(string)
}
