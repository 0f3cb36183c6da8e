variable "environment" {
  type    = string
  default = "test"
}

variable "nodes" {
  type    = number
  default = 2
}

variable "reservation_id" {
  description = "The Capacity Block"
  type        = string
}

variable "api_key" {
  type      = string
  default   = "never-printed"
  sensitive = true
}
