"""``python -m flitwork`` is the command ``flitwork``."""

from flitwork.cli import main

main()
