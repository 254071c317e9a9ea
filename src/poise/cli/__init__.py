"""The command line: one thin file per command, over the library.

Nothing here is imported by the library. The command files import what they need when they run, so
that ``poise --help`` does not wait for numba and scikit-learn.
"""
