"""The networks that nodes live in, and who may talk there."""
