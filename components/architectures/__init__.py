"""Plans and components of each architecture."""
