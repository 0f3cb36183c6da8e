"""FSx for Lustre and OpenZFS, of which moto only stores the request parameters."""
