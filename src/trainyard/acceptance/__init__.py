"""Acceptance of a stack on an account: deploy, test, change, diagnose and delete it."""

ANSWER_SHAPES = "TRAINYARD_ANSWER_SHAPES"
"""Environment variable: directory in which a command records the shapes of AWS's answers."""
ANSWERS = "answers"
"""Its name in the directory of an acceptance."""
