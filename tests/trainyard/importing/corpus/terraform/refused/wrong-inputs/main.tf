# An attribute that the module ignores, and EFA on a type without it.
module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 20.0"

  cluster_name   = "wrong"
  vpc_id         = "vpc-0123456789abcdef0"
  subnet_ids     = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]

  eks_managed_node_groups = {
    training = {
      instance_types     = ["m5.large"]
      enable_efa_support = true
      desired_sise       = 4
      subnet_ids         = ["subnet-0123456789abcdef1"]
    }
  }
}
