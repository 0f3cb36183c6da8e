"""What the stand-ins share: values on the wire, the server, the rest of the protocol."""
