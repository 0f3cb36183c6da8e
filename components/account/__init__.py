"""Facts about the AWS account, read with boto3.

The `*_lookup` modules of the architectures also read facts. All others use plain records.
"""
