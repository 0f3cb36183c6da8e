"""Stack files: finding, reading and completing them."""
