"""What is wrong with a stack, as data for tools: one record for every stage, JSON and SARIF."""
