"""The test suite: its parts, and the tests that a change can have broken."""
