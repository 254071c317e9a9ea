"""How time and memory grow with the number of points: ``poise bench scale``."""
