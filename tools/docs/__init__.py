"""The documentation site: its order, its build, and the checks of what was built."""
