"""``python -m poise``: the same as the command ``poise``."""

from poise.cli.main import main

main()
