"""What the HTTP servers of the sandbox respond with."""

Answer = tuple[str, list[tuple[str, str]], bytes]
"""Status line, headers and body of an HTTP response."""
