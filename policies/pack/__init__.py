"""The policy pack as a server: its rules, suppressions, lookups and configuration."""
