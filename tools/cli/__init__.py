"""The command line of `./trainyard`; one module a group of commands."""
