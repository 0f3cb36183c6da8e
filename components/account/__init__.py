"""The session with an account, what a check is, and what is known of a stack when it runs."""
