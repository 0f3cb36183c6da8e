"""What a contributor writes who follows a recipe of CONTRIBUTING.md."""
