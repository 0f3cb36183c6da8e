"""How long AWS typically takes, and how a sandbox takes as long, scaled down."""
