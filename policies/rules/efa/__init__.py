"""Rules on Elastic Fabric Adapter (EFA): interfaces, their security groups, their zone."""
