"""What must hold for every resource, whoever planned it."""
