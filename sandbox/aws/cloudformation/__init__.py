"""CloudFormation and Lambda, answered by ministack beside the rest of the account.

moto runs no Lambda-backed custom resource; ministack does, with the function's own Python in a
process of its own. It is started at the first call that needs it.
"""
