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

resource "aws_placement_group" "spot" {
  name     = "spot"
  strategy = "cluster"
}

resource "aws_launch_template" "spot" {
  name = "spot-batch"
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = "250"
      volume_type = "gp3"
      throughput  = 250
      encrypted   = true
    }
  }
  block_device_mappings {
    device_name = "/dev/sdb"
    ebs {
      volume_size = 100
    }
  }
}

resource "aws_batch_compute_environment" "spot" {
  name  = "spot"
  type  = "MANAGED"
  state = "DISABLED"
  compute_resources {
    type                = "SPOT"
    allocation_strategy = "SPOT_CAPACITY_OPTIMIZED"
    bid_percentage      = 70
    min_vcpus           = 0
    max_vcpus           = 192
    instance_type       = ["g6.12xlarge"]
    placement_group     = aws_placement_group.spot.name
    instance_role       = "arn:aws:iam::123456789012:instance-profile/batch"
    subnets             = ["subnet-0123456789abcdef1"]
    security_group_ids  = ["sg-0123456789abcdef0"]
    launch_template {
      launch_template_name = aws_launch_template.spot.name
      version              = "$Latest"
    }
  }
  update_policy {
    job_execution_timeout_minutes = 60
    terminate_jobs_on_update      = false
  }
}

variable "training_image" {
  default = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.7.1-gpu-py312"
}

resource "aws_ecr_repository" "nccl" {
  name = "nccl-tests"
}

resource "aws_batch_job_definition" "all_reduce" {
  name = "all-reduce"
  type = "container"
  timeout {
    attempt_duration_seconds = 1800
  }
  container_properties = jsonencode({
    image      = "${aws_ecr_repository.nccl.repository_url}:latest"
    command    = ["/opt/nccl-tests/build/all_reduce_perf", "-b", "8", "-e", "16G"]
    jobRoleArn = "arn:aws:iam::123456789012:role/jobs"
    resourceRequirements = [
      { type = "VCPU", value = "96" },
      { type = "MEMORY", value = "1048576" },
      { type = "GPU", value = "8" },
    ]
    mountPoints = []
  })
}

resource "aws_batch_job_definition" "train" {
  name = "train"
  type = "multinode"
  retry_strategy {
    attempts = 3
    evaluate_on_exit {
      action           = "RETRY"
      on_status_reason = "Host EC2*"
    }
  }
  node_properties = <<-JSON
    {
      "mainNode": 0,
      "numNodes": 4,
      "nodeRangeProperties": [
        {
          "targetNodes": "0:",
          "container": {
            "image": "${var.training_image}",
            "instanceType": "p5.48xlarge",
            "command": ["torchrun", "train.py"],
            "linuxParameters": {"sharedMemorySize": 65536},
            "resourceRequirements": [
              {"type": "VCPU", "value": "192"},
              {"type": "MEMORY", "value": "1900000"},
              {"type": "GPU", "value": "8"}
            ]
          }
        }
      ]
    }
  JSON
}
