"""``poise plot``: records of any experiments as curves and tables, side by side."""
