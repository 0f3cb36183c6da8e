"""Data that CloudWatch gets."""

from trainyard.components.config.parallelcluster import Monitoring
from trainyard.components.parallelcluster.rendering import render_monitoring


def test_the_templates_monitoring():
    """PC-17: detailed, logs, no dashboard."""
    rendered = render_monitoring(Monitoring(dashboard=False))
    assert rendered["DetailedMonitoring"] is True
    assert rendered["Logs"]["CloudWatch"]["Enabled"] is True
    assert rendered["Dashboards"] == {"CloudWatch": {"Enabled": False}}


def test_logs_are_kept_as_long_as_asked():
    rendered = render_monitoring(Monitoring(log_retention_days=30, keep_logs=False))
    assert rendered["Logs"]["CloudWatch"] == {
        "Enabled": True,
        "RetentionInDays": 30,
        "DeletionPolicy": "Delete",
    }


def test_logs_outlive_the_cluster():
    """PR-10: a failed cluster is deleted, but its logs must remain."""
    assert render_monitoring(Monitoring())["Logs"]["CloudWatch"]["DeletionPolicy"] == "Retain"


def test_without_logs_nothing_is_said_about_keeping_them():
    assert render_monitoring(Monitoring(logs=False))["Logs"] == {"CloudWatch": {"Enabled": False}}


def test_alarms_can_be_off():
    assert render_monitoring(Monitoring(alarms=False))["Alarms"] == {"Enabled": False}
