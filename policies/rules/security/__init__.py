"""Rules for security: credentials, permissions, encryption, open ports, logs, tags."""
