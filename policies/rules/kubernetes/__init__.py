"""Rules on EKS: node groups and their templates, who may join, what runs on the nodes."""
