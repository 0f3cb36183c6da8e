"""Rules for shared file systems: protection, limits, ports."""
