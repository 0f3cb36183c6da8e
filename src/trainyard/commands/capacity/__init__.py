"""The commands of `capacity`, for Capacity Blocks and on-demand reservations."""
