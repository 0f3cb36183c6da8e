"""Stand-ins for the provider plugins that cannot be built from package registries: eks, kubernetes.

They speak the protocol of the Pulumi engine: the engine, the program, the AWS provider and the
Kubernetes API server are real. What they do not know is an error that
names it.
"""
