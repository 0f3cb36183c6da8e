"""Documents that are made from the configuration's models."""
