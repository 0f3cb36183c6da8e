"""The command line of `./trainyard`; one module per group of commands."""
