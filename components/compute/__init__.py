"""Instance types, images, launch templates and placement groups of nodes."""
