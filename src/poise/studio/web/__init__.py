"""The server: who may come in, what it answers, and the API."""
