"""Acceptance of a stack on an account: deploy, test, change, diagnose and delete it."""
