"""Scheduled faults of the sandbox's account: which call fails, when, and how.

`kinds` lists the kinds of fault, and `schedule` parses the file of the user and has the schedule in
force, which the account reads before each call.
"""
