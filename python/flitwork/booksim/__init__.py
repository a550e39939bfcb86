"""Reads BookSim 2 configurations as they are: ``flitwork booksim FILE key=value ...``; ``docs/booksim.md`` says how.

``config_file`` reads the format, ``keys`` lists every key and what becomes of it, ``settings`` is what a configuration
says, ``traffic`` (with ``permutation`` and ``knuth`` for BookSim's random permutation) and ``mapping`` turn it into a
specification, ``measure`` runs it as BookSim would, ``report`` prints the results.
"""
