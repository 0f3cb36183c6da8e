"""Metrics and alarms of a deployed stack."""
