"""Problems of a stack as data for tools: one record type for all stages, JSON and SARIF."""
