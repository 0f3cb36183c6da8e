"""Kill an engine, a program or a launcher at a chosen point of a stack's life."""
