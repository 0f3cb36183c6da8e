"""Metrics, alarms and dashboards of clusters."""
