"""Bridges to tools that people already use: a module each, imported only where it is used.

Each needs an extra of its own, which its error names where it is missing. The table of them is in
docs/integrations/index.md.
"""
