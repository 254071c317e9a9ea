"""Labels from files of other tools: a module for each format, and `formats` to recognise one."""
