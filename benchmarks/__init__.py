"""Measurements that anybody can run again; each compares within one run."""
