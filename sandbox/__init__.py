"""An emulated AWS account with clusters on this machine: no credentials and no charges."""
