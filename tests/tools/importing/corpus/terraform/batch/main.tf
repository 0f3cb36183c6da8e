# A compute environment of AWS Batch with EFA in a Capacity Block, and its queue.
provider "aws" {
  region = "us-west-2"
}

resource "aws_launch_template" "p5" {
  name = "p5-batch"
  instance_market_options {
    market_type = "capacity-block"
  }
  capacity_reservation_specification {
    capacity_reservation_target {
      capacity_reservation_id = "cr-0123456789abcdef0"
    }
  }
  network_interfaces {
    interface_type = "efa"
    device_index   = 0
  }
}

resource "aws_batch_compute_environment" "p5" {
  compute_environment_name = "P5"
  type                     = "MANAGED"
  service_role             = "arn:aws:iam::123456789012:role/batch"
  compute_resources {
    type               = "EC2"
    min_vcpus          = 0
    max_vcpus          = 768
    instance_type      = ["p5.48xlarge"]
    instance_role      = "arn:aws:iam::123456789012:instance-profile/batch"
    subnets            = ["subnet-0123456789abcdef1"]
    security_group_ids = ["sg-0123456789abcdef0"]
    launch_template {
      launch_template_id = aws_launch_template.p5.id
    }
  }
}

resource "aws_batch_job_queue" "p5" {
  name     = "p5"
  state    = "ENABLED"
  priority = 10
  compute_environment_order {
    order               = 1
    compute_environment = aws_batch_compute_environment.p5.arn
  }
}
