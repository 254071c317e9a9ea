"""Projects as files of other tools: a module for each format, and `formats` to choose one."""
