"""The workspace of the Pulumi engine: stack files, project directories, environment, locks."""
