"""CloudFormation templates of VPCs and of AWS Batch.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html
"""
