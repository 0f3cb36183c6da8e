"""The rules of the pack, one a module, named after its file."""
