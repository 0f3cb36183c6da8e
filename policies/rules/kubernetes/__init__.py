"""Rules for EKS: node groups, launch templates, authorization, device plugins."""
