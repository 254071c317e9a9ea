"""From what a person has to a project's items, features and graph."""
