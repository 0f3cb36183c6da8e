"""The schema of a stack file, its reader, and the explanations of wrong ones."""
