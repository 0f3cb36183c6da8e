"""Pictures of the commands in a terminal, for the documents: `python -m tools.pictures`."""
