"""A compact display of what the engine does, from its event log."""
