"""What a planned stack costs, from list prices."""
