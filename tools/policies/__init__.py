"""The reference of the policy pack, generated from its rules."""
