"""Documents that are generated from the configuration models."""
