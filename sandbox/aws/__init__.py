"""The AWS side of the sandbox: moto's server, extended where it has holes.

`sandbox.aws.server.AwsServer` is the way in. The extensions replace classes of moto; which ones,
and where, stands in `sandbox.aws.install` alone.
"""
