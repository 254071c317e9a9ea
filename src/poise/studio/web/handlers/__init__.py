"""What each address does, by topic; `routes.py` lists them."""
