"""The sandbox's stand-in for the official `aws` provider plugin, over the sandbox's account."""
