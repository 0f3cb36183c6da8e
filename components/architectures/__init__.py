"""The registry of the architectures, and what `check`, `preview` and `up` do with any of them."""
