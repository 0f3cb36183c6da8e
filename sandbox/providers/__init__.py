"""Stand-ins for the provider plugins that the sandbox cannot have: aws, eks and kubernetes.

They speak the protocol of the Pulumi engine and stand in for the AWS API's clients only: the
engine, the program and the Kubernetes API server are real. What they do not know is an error that
names it.
"""
