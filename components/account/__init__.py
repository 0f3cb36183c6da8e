"""Facts about the AWS account, read with boto3.

The packages of the architectures read their own facts through its `AccountReader`. All others use
plain records.
"""
