"""What the rules say: the reference of the policy pack, and where each rule is enforced."""
