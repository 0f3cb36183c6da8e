"""Additional account checks of `./trainyard check --live`.

These checks are read-only and the program does not depend on them. They need permissions that `up`
does not need; denied calls are reported and skipped.
"""
