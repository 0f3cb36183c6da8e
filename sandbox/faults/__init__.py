"""Scheduled faults of the sandbox's account: which call fails, when, and how.

`schedule` parses the file of the user, `kinds` lists the kinds of fault, and the account calls
`in_force` before each call.
"""
