"""A program or an HTTP endpoint answers open questions: ``poise assist``."""
