"""The labelling app in front of a graph at several ranks."""
