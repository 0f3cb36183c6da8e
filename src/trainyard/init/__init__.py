"""`init`: a stack file for a new stack, made from a shipped example and what the account has."""
