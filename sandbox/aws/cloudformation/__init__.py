"""CloudFormation and Lambda, handled by ministack in addition to moto.

moto does not run Lambda-backed custom resources; ministack does, with the function's own Python in
a separate process. It is started at the first call that requires it.
"""
