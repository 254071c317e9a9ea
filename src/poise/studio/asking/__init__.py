"""What is asked next, computed ahead, and what is known from the answers."""
