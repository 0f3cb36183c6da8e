"""Job definitions of AWS Batch in the JSON of its API.

https://docs.aws.amazon.com/batch/latest/APIReference/API_RegisterJobDefinition.html
"""
