"""What is true of the AWS account that a stack file names: read with boto3, then checked.

The only folder of the program that calls AWS itself. Everything else gets plain records.
"""
