"""BookSim's random permutations, and the numbers they are drawn with."""

from __future__ import annotations

import time

import numpy as np
import pytest
from booksim_files import SMALL, planned
from flitwork.booksim.knuth import LaggedFibonacci, recommended
from flitwork.booksim.permutation import random_permutation


def test_knuths_random_numbers() -> None:
    """The two values that Knuth gives to check a program with."""
    for arrays, length in ((2010, 1009), (1010, 2009)):
        source = LaggedFibonacci(310952)
        for _ in range(arrays):
            found = source.take(length)
        assert found[0] == 995235265
    whole = LaggedFibonacci(5).take(3 * 1009).reshape(3, 1009)
    assert recommended(5, 250).tolist() == whole[:, :100].ravel()[:250].tolist()
    assert not len(recommended(5, 0))


def test_the_permutation_is_booksims() -> None:
    def drawn(text: str) -> list[int]:
        pattern = planned(f"{SMALL} {text}")["workload"]["pattern"]
        assert pattern["kind"] == "permutation"
        return list(pattern["destinations"])

    assert drawn("traffic = randperm;") == [2, 8, 6, 1, 0, 11, 4, 5, 3, 14, 10, 7, 15, 12, 9, 13]
    assert drawn("traffic = randperm(0); perm_seed = 7;") == drawn("traffic = randperm;"), "the seed of traffic wins"
    assert (
        drawn("traffic = randperm(7);") == drawn("traffic = randperm; perm_seed = 7;") != drawn("traffic = randperm;")
    )
    hops = []
    for seed in range(4):
        to = np.array(drawn(f"k = 8; traffic = randperm({seed});"))
        here = np.arange(64)
        hops.append(np.mean(abs(here % 8 - to % 8) + abs(here // 8 - to // 8)) + 1)
    assert hops == [6.4375, 5.84375, 6.5, 6.40625]


@pytest.mark.parametrize("nodes", [1, 2, 3, 64, 100, 1009])
@pytest.mark.parametrize("seed", [0, 1, 2**30 - 2, 2**31 - 1, -1, -2])
def test_permutations_take_the_free_node_that_is_drawn(seed: int, nodes: int) -> None:
    free, wanted = list(range(nodes)), [0] * nodes
    for i, number in enumerate(recommended(seed, nodes).tolist()):
        wanted[free.pop(number % len(free))] = i
    assert random_permutation(seed, nodes) == wanted


def test_a_large_permutation_is_drawn_soon() -> None:
    began = time.process_time()
    drawn = random_permutation(1, 2**19)
    assert time.process_time() - began < 20, "node by node it takes minutes"
    assert sorted(drawn) == list(range(2**19))
