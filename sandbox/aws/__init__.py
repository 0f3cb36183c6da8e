"""The emulated AWS account of the sandbox: moto's server with extensions.

`trainyard.sandbox.aws.server.AwsServer` is the entry point. The extensions replace classes of moto;
`trainyard.sandbox.aws.install` has all replacements.
"""
