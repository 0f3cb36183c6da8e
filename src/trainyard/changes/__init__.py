"""What an update would do to a stack, with checks for losses and failures."""
