"""Faults of the sandbox's account on a schedule: which call fails, when, and how.

`schedule` reads what a person wrote, `kinds` lists what can happen, `in_force` is asked by the
account before each call.
"""
