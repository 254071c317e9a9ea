"""``python -m poise`` runs the command ``poise``."""

from poise.cli.main import main

if __name__ == "__main__":
    main()
