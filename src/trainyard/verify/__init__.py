"""Judgement of a cluster from the logs of its collective tests."""
