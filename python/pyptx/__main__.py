"""``python -m pyptx``: see `pyptx.cli`."""

from .cli import entry_point

if __name__ == "__main__":
    entry_point()
