"""Which plans and components make which kind of cluster."""
