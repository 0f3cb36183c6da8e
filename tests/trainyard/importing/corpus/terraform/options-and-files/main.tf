# A cluster whose node groups are a variable with optional attributes, and whose user data is a file.

variable "groups" {
  type = map(object({
    instance_type = string
    nodes         = number
    disk          = optional(number, 200)
    efa           = optional(bool, false)
    labels        = optional(map(string), {})
  }))
  default = {
    services = { instance_type = "m6i.2xlarge", nodes = "2", disk = 80 }
    train    = { instance_type = "g6.12xlarge", nodes = 4, labels = { tier = 1 } }
  }
}

locals {
  network = yamldecode(file("${path.module}/network.yml"))
}

provider "aws" {
  region = "eu-west-1"
}

module "vpc" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "~> 6.0"

  name               = "train"
  cidr               = local.network.cidr
  azs                = local.network.zones
  private_subnets    = [for number, _ in local.network.zones : cidrsubnet(local.network.cidr, 3, number)]
  public_subnets     = [for number, _ in local.network.zones : cidrsubnet(local.network.cidr, 8, 240 + number)]
  enable_nat_gateway = true
  single_nat_gateway = alltrue([for zone in local.network.zones : startswith(zone, "eu-")])
}

module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"

  name               = "train"
  kubernetes_version = "1.35"
  vpc_id             = module.vpc.vpc_id
  subnet_ids         = module.vpc.private_subnets

  eks_managed_node_groups = {
    for name, group in var.groups : name => {
      instance_types     = [group.instance_type]
      min_size           = group.nodes
      desired_size       = group.nodes
      max_size           = group.nodes + 1
      disk_size          = group.disk
      enable_efa_support = group.efa
      labels             = group.labels
      cloudinit_pre_nodeadm = name == "services" ? [] : [{
        content_type = "application/node.eks.aws"
        content      = templatefile("${path.module}/node.yaml.tftpl", { group = name, pods = 60 })
      }]
    }
  }
}

resource "helm_release" "operator" {
  name   = "operator"
  chart  = "operator"
  values = [templatefile("${path.module}/missing.yaml", {})]
}
