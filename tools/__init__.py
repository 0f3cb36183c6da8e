"""Everything around the program: its commands, its engine, its locks and its generators."""
