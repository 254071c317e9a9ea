"""Data: data sets by name, where their files are kept and how they are fetched."""
