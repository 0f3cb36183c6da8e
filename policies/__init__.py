"""The policy pack: rules for every resource, whichever program registers it."""
