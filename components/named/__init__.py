"""AWS objects that a stack file only names, and names that a stack takes for its own objects."""
