"""Where datasets and checkpoints live, and how nodes and pods reach them."""
