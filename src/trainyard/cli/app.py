"""The command line as a whole, with every command."""

from trainyard.cli.command_line import command_line

app = command_line()
