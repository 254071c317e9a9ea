"""The labelling app: an event log, a pure fold over it, and a server that shows it."""
