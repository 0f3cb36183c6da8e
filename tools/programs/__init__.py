"""Programs that tests and documents need: Chromium, PyTorch, and Prometheus's alert evaluator."""
