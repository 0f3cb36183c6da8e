"""Facts about the AWS account, read with boto3, and checks of a stack against them.

Only this package of the program calls AWS. All others use plain records.
"""
