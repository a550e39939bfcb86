"""Claims and figures in processes of their own give what they give here, also where such a process is killed."""

from __future__ import annotations

import multiprocessing
import warnings
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from flitwork.studies.judging import Pending, _result_of, _with_warnings, judges
from flitwork.studies.reproduce import simulate

NAME = "booksim-2-alltoall"


def test_processes_judge_as_this_one_does(tmp_path: Path) -> None:
    here = fw.studies.reproduce(NAME, tmp_path, quick=True)
    with judges() as judge:
        pending = judge.take(simulate(NAME, tmp_path, quick=True))
        there = pending.result()
        assert pending.ready and multiprocessing.active_children()
    assert there.claims == here.claims and there.figures == here.figures
    assert there.claims and all(claim.verdict == "reproduced" for claim in there.claims)
    assert not multiprocessing.active_children()


def test_what_a_killed_process_leaves_is_done_here(tmp_path: Path) -> None:
    simulated = simulate(NAME, tmp_path, quick=True)
    killed: Future[Any] = Future()
    killed.set_exception(BrokenProcessPool("killed"))
    found = Pending(simulated, killed, None).result()
    assert found.claims == fw.studies.reproduce(NAME, tmp_path, quick=True).claims


def test_an_error_ends_the_processes(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), judges() as judge:
        judge.take(simulate(NAME, tmp_path, quick=True))
        raise KeyboardInterrupt
    assert not multiprocessing.active_children()


def test_warnings_come_back() -> None:
    def use() -> int:
        warnings.warn("points are missing", stacklevel=2)
        return 3

    value, said = _with_warnings(use)
    future: Future[Any] = Future()
    future.set_result((value, said))
    with pytest.warns(UserWarning, match="points are missing"):
        assert _result_of(future, lambda: 0) == 3
