"""What an update would do to a stack, and what nobody should find out only afterwards."""
