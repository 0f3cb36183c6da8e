"""Jobs for a stack's cluster, generated from its plan."""
