"""What `up`, `preview` and `destroy` do around the engine."""
