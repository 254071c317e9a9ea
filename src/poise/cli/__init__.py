"""The command line: one thin file per command on top of the library.

The library imports nothing from here. Each command imports what it needs when it runs, so that
``poise --help`` does not wait for numba and scikit-learn.
"""
