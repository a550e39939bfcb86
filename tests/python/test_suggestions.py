"""What an error suggests: a name like the one that was written, and the remedy before the details."""

from typing import Any

import flitwork as fw
import pytest
from flitwork.base.errors import did_you_mean


@pytest.mark.parametrize("wrong", ["flits_per_cycle", "hop_cycles", "max_cycles", "width_flits", "packet_gap_cycles"])
def test_an_equal_unit_is_no_likeness(wrong: str) -> None:
    with pytest.raises(fw.ConfigError, match="unknown key") as error:
        fw.Channel(**{wrong: 1})
    assert error.value.hint == ""


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("latncy_cycles", "latency_cycles"),
        ("latency_cycle", "latency_cycles"),
        ("local_latnecy_cycles", "local_latency_cycles"),
        ("delay_cycles", "credit_delay_cycles"),
    ],
)
def test_misspelt_fields_have_a_suggestion(wrong: str, right: str) -> None:
    with pytest.raises(fw.ConfigError) as error:
        fw.Channel(**{wrong: 1})
    assert error.value.hint == f"did you mean `{right}`?"


def test_the_most_alike_is_suggested() -> None:
    assert did_you_mean("vsc", ["vcs", "vc_policy"]) == "did you mean `vcs`?"
    assert did_you_mean("x", []) == did_you_mean("", ["vcs"]) == ""


@pytest.mark.parametrize("wrong", [["a2at"], {}, None, 5, b"a2at"])
def test_a_workload_without_the_name_of_its_algorithm_names_the_field(wrong: Any) -> None:
    for make in (fw.all_to_all, lambda name: fw.collective("allreduce", name)):
        with pytest.raises(fw.ConfigError, match=r"^workload\.algorithm = .*: expected the name .*; for example fw\."):
            make(wrong)
    with pytest.raises(fw.ConfigError, match=r"^workload\.operation = "):
        fw.collective(wrong, "ring")


@pytest.mark.parametrize("size", [(4, 4), (16,)])
def test_the_remedy_comes_before_the_cycle(size: tuple[int, ...]) -> None:
    with pytest.raises(fw.ConfigError, match="no cycle of channel dependencies") as error:
        fw.simulate(fw.Torus(*size, routing="duato", vcs=4), fw.uniform(offered_load=0.1))
    assert error.value.hint.startswith("use network.router.switching = ")
    assert error.value.hint.count("->") <= 5
