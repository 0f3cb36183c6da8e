"""Commands that read or write a stack file."""
