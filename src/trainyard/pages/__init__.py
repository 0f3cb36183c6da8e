"""Reports as HTML pages that need no other file, and the curves in them."""
