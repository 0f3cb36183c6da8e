"""The key tables of foreign formats, from their schemas."""
