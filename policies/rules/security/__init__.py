"""Rules on what a node gives away: its credentials and its data."""
