"""The commands fit and predict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flitwork.cli import main
from flitwork.fit import fit_model, predict, read_fits


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Total exchanges of two algorithms, without noise."""
    rows = [
        (name, n, m, s) for name, s in (("ring", 1), ("bruck", 2)) for n in (2, 4, 8, 16) for m in (64, 4096, 65536)
    ]
    table = pd.DataFrame(rows, columns=["algorithm", "ranks", "bytes", "slower"])
    table["seconds"] = (table.ranks - 1) * (1e-6 + table.bytes * 1e-9) * table.slower
    table["operation"] = "alltoall"
    table.drop(columns="slower").to_csv(tmp_path / "times.csv", index=False)
    return tmp_path / "times.csv"


def run(
    arguments: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int = 0
) -> Any:
    monkeypatch.setattr("sys.argv", ["flitwork", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == code, printed.err
    return printed


def test_fit_writes_fits_and_pictures_with_their_numbers(data: Path, monkeypatch: Any, capsys: Any) -> None:
    out = data.parent / "fits"
    printed = run(["fit", data, "--model", "total_exchange", "-o", out], monkeypatch, capsys).out
    assert "1 ns/B" in printed and "1 us" in printed and "ring" in printed and "bruck" in printed
    fits = read_fits(out / "fit.json")
    assert [one.value("t0") for one in fits] == pytest.approx([1e-6, 2e-6])
    pictures = sorted(out.glob("*.png"))
    assert len(pictures) == 2 and all(one.stat().st_size > 5000 for one in pictures)
    numbers = pd.read_csv(pictures[1].with_suffix(".csv"))
    left = numbers[numbers["panel"] == "residuals"]
    assert len(left) == 12 and left["y"].abs().max() < 1e-12
    above = numbers[(numbers["panel"] != "residuals") & ~numbers["series"].str.startswith("model")]
    assert sorted(above["y"]) == pytest.approx(sorted(fits[0].points["seconds"]))


def test_fit_compares_models_as_json(data: Path, monkeypatch: Any, capsys: Any) -> None:
    found = json.loads(run(["fit", data, "--algorithm", "ring", "--json"], monkeypatch, capsys).out)
    assert [one["model"] for one in found["fits"]] == ["total_exchange"]
    (compared,) = found["compared"]
    assert "hockney" in compared["left_out"] and {"loggp", "max_rate"} <= {one["model"] for one in compared["models"]}


def test_predict_from_a_file_and_from_data(data: Path, monkeypatch: Any, capsys: Any) -> None:
    out = data.parent / "fits"
    run(["fit", data, "--model", "total_exchange", "-o", out], monkeypatch, capsys)
    asked = ["--algorithm", "bruck", "--bytes", "64,1000000", "--ranks", "4,64", "--json"]
    stored = json.loads(run(["predict", out / "fit.json", *asked], monkeypatch, capsys).out)
    fresh = json.loads(run(["predict", data, "--model", "total_exchange", *asked], monkeypatch, capsys).out)
    for (one,), name in ((stored["predictions"], "stored"), (fresh["predictions"], "fresh")):
        times = one["times"]
        exact = [2 * (n - 1) * (1e-6 + m * 1e-9) for n in (4, 64) for m in (64, 1e6)]
        assert [row["seconds"] for row in times] == pytest.approx(exact), name
        assert [bool(row["beyond"]) for row in times] == [False, True, True, True]


def test_predict_finds_the_best_number_of_ranks(data: Path, monkeypatch: Any, capsys: Any) -> None:
    words = ["predict", data, "--model", "total_exchange", "--algorithm", "ring", "--total-bytes", "1e8"]
    printed = run(words, monkeypatch, capsys)
    numbers = np.arange(2, 1025)
    best = numbers[((1e8 / numbers**2 * 1e-9 + 1e-6) * (numbers - 1)).argmin()]
    assert f"{best} ranks (95%: {best} to {best})" in printed.out
    assert "beyond what was measured" in printed.err
    worked = json.loads(run([*words, "--work-seconds", "1", "--json"], monkeypatch, capsys).out)["predictions"][0]
    assert worked["best"]["ranks"] > best
    limited = json.loads(run([*words, "--at-most", "100", "--json"], monkeypatch, capsys).out)["predictions"][0]
    assert limited["best"]["ranks"] == 100 and limited["best"]["at_limit"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "none.csv", "--model", "hockney"], "none.csv"),
        (["fit", "DATA", "--model", "hockny"], "did you mean `hockney`?"),
        (["fit", "DATA", "--column", "seconds"], "NAME=COLUMN"),
        (["fit", "DATA", "--column", "seconds=a", "--column", "seconds=b"], "once"),
        (["fit", "DATA", "--ranks", "two"], "numbers with commas"),
        (["fit", "DATA", "--ranks", "2.5"], "whole numbers"),
        (["fit", "DATA", "--ranks", "5"], "2, 4, 8, 16"),
        (["fit", "DATA", "--model", "segmented", "--algorithm", "ring"], "too few points"),
        (["predict", "DATA", "--model", "total_exchange"], "total_bytes"),
        (["predict", "none.json", "--bytes", "4"], "none.json"),
        (["predict", "FIT", "--model", "loggp", "--bytes", "4"], "one of its fits: total_exchange"),
        (["predict", "FIT", "--bytes", "4", "--ranks", "4", "--at-most", "9"], "--at-most"),
        (["predict", "FIT", "--bytes", "4", "--total-bytes", "4", "--ranks", "4"], "--total-bytes = given beside"),
        (["predict", "FIT", "--bytes", "4", "--confidence", "0.5"], "--confidence = given beside a stored fit"),
        (["fit", "DATA", "DATA"], "each file once"),
        (["fit", "DATA", "--operation", ""], "at least one name"),
        (["fit", "DATA", "--modle", "hockney"], "flitwork fit --help says what there is"),
    ],
)
def test_bad_input_is_an_error_in_words(
    words: list[str], message: str, data: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    fit_model(data, "total_exchange", algorithm="ring").save(tmp_path / "fit.json")
    monkeypatch.chdir(tmp_path)
    given = [{"DATA": str(data), "FIT": str(tmp_path / "fit.json")}.get(word, word) for word in words]
    printed = run(given, monkeypatch, capsys, code=2)
    assert "error" in printed.err and message in " ".join(printed.err.split()) and not printed.out


def test_a_fit_that_is_used_from_python_predicts_the_same(data: Path) -> None:
    found = fit_model(data, "total_exchange", algorithm="ring", ranks=[2, 4])
    assert predict(found, bytes=4096, ranks=2)["seconds"].tolist() == pytest.approx([1e-6 + 4096e-9])


def test_the_search_stops_where_a_message_would_be_shorter_than_a_byte(
    data: Path, monkeypatch: Any, capsys: Any
) -> None:
    asked = ["predict", data, "--model", "total_exchange", "--algorithm", "ring", "--total-bytes"]
    (found,) = json.loads(run([*asked, 100, "--json"], monkeypatch, capsys).out)["predictions"]
    assert max(row["ranks"] for row in found["best"]["table"]) == 10
    assert min(row["bytes"] for row in found["best"]["table"]) == 1
    assert "up to 10 ranks: with more a message would be shorter than 1 byte" in found["best"]["notes"][-1]
    assert "at least 4" in run([*asked, 3], monkeypatch, capsys, 2).err
    assert "less than 1 byte" in run([*asked, 100, "--ranks", 16], monkeypatch, capsys).out
    (whole,) = json.loads(run([*asked, "1e8", "--json"], monkeypatch, capsys).out)["predictions"]
    assert not any("byte" in note for note in whole["best"]["notes"])


def test_files_that_are_no_tables_are_named_as_such(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    file = tmp_path / "times.csv"
    for text, cause in (
        ("", "an empty file"),
        (" \n", "an empty file"),
        ("bytes;seconds\n64;1\n", "semicolons between the columns"),
        ("bytes\tseconds\n64\t1\n", "tabs between the columns"),
    ):
        file.write_text(text)
        said = run(["fit", file], monkeypatch, capsys, 2).err
        assert cause in said and str(file) in said


def test_what_is_not_given_and_which_rows_are_too_few_is_said_plainly(
    data: Path, monkeypatch: Any, capsys: Any
) -> None:
    said = run(["predict", data, "--model", "total_exchange"], monkeypatch, capsys, 2).err
    assert "total_bytes = not given" in said
    few = data.with_name("few.csv")
    few.write_text("operation,bytes,ranks,seconds\nalltoall,64,2,1e-6\nalltoall,128,2,2e-6\n")
    said = run(["fit", few, "--model", "hockney"], monkeypatch, capsys, 2).err
    assert "too few points: 2" in said and "these rows alone are fitted together: alltoall" in said


def test_intervals_below_zero_are_remarked(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    file = tmp_path / "times.csv"
    sizes, rough = np.repeat([64, 4096, 65536], 4), np.tile([1e-5, 1e-3], 6)
    pd.DataFrame({"bytes": sizes, "ranks": 2, "seconds": rough}).to_csv(file, index=False)
    asked = ["predict", file, "--model", "linear_bytes", "--bytes", 64]
    assert "intervals reach below 0" in run(asked, monkeypatch, capsys).err
    steady = tmp_path / "steady.csv"
    fine = 1e-4 + sizes * 1e-9 + rough * 1e-4
    pd.DataFrame({"bytes": sizes, "ranks": 2, "seconds": fine}).to_csv(steady, index=False)
    said = run(["predict", steady, "--model", "linear_bytes", "--bytes", 64], monkeypatch, capsys).err
    assert "below 0" not in said


def test_a_file_of_fits_is_replaced_only_when_told(data: Path, monkeypatch: Any, capsys: Any) -> None:
    asked = ["fit", data, "--model", "total_exchange", "-o", data.parent / "fits"]
    run(asked, monkeypatch, capsys)
    (data.parent / "fits" / "fit.json").write_text("mine")
    assert "--overwrite" in run(asked, monkeypatch, capsys, 2).err
    assert (data.parent / "fits" / "fit.json").read_text() == "mine"
    run([*asked, "--overwrite"], monkeypatch, capsys)
    assert len(read_fits(data.parent / "fits" / "fit.json")) == 2
