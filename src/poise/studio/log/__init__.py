"""The log of a project: events, where they are kept, and the state that they add up to."""
