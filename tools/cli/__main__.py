"""Run the command line: `python -m tools.cli <command>`."""

from tools.cli.app import app

app(prog_name="./trainyard")
