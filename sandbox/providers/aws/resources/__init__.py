"""One module a service: the resource types that the sandbox knows."""
