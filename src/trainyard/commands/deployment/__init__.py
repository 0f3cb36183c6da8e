"""Commands for a deployment of a stack as a whole."""
