module "vpc" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "~> 5.0"

  name = local.name
  cidr = "10.20.0.0/16"
  azs  = local.azs

  private_subnets = [for number, zone in local.azs : cidrsubnet("10.20.0.0/16", 4, number)]
  public_subnets  = [for number, zone in local.azs : cidrsubnet("10.20.0.0/16", 8, number + 48)]

  enable_nat_gateway = true
  single_nat_gateway = length(local.azs) > 0

  private_subnet_tags = { "kubernetes.io/role/internal-elb" = 1 }
  tags                = local.tags
}

output "vpc_id" {
  value = module.vpc.vpc_id
}
