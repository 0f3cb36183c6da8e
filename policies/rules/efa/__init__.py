"""Rules for Elastic Fabric Adapter (EFA): interfaces, security groups, zones, device plugins."""
