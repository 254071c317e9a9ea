"""The commands of ``python -m poise.distributed``, one thin file each."""
