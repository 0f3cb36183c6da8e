"""The rules of the policy pack as documents show them, and the requirements that they enforce."""
