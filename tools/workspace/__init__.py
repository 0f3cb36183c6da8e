"""Where the Pulumi engine runs: stack files, project directories, environment, locks."""
