"""Pictures of what a stack has: nested boxes from its plan, as SVG and in a report."""
