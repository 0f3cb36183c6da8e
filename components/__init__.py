"""The program: configuration, plans and resources of the clusters."""
