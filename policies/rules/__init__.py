"""Rules of the pack: one module each, in a folder for each topic."""
