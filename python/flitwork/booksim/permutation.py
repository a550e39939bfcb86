"""The permutation of BookSim's traffic ``randperm``."""

from __future__ import annotations

from flitwork.base.libraries import np
from flitwork.booksim.knuth import Numbers, recommended


def random_permutation(seed: int, nodes: int) -> list[int]:
    """The destination of each of so many nodes.

    Node 0 is the destination of a node drawn of all, node 1 of one drawn of those that are left, and so on.
    """
    draws = recommended(seed, nodes) % np.arange(nodes, 0, -1)
    destinations = np.empty(nodes, np.int64)
    destinations[_drawn(draws)] = np.arange(nodes)
    return [int(node) for node in destinations]


def _drawn(draws: Numbers) -> Numbers:
    """Which element each draw takes: ``draws[i]`` counts, from 0, the elements that the draws before it have left.

    Places among what was left before a run of draws become places among what was left before a run of twice the length,
    for all runs at once: O(n log^2 n), where going through the elements one by one takes n^2.
    """
    size = 1 << max(len(draws) - 1, 0).bit_length()
    # More draws at the end do not change what those before them take.
    places = np.concatenate([draws, np.zeros(size - len(draws), np.int64)]).reshape(size, 1)
    while len(places) > 1:
        first, second = places[::2], places[1::2]
        runs, length = first.shape
        # A place of the second run moves up by one for each element taken at or before it.
        left_before = np.sort(first, axis=1) - np.arange(length)
        run = np.arange(runs)[:, None]
        taken = np.searchsorted((left_before + run * size).ravel(), (second + run * size).ravel(), side="right")
        places = np.concatenate([first, second + taken.reshape(runs, length) - run * length], axis=1)
    return places[0, : len(draws)]
