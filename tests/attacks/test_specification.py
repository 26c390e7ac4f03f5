"""Attacks as text: names from the list, settings of the right kind, classes of the user, and clear refusals."""

from dataclasses import replace
from pathlib import Path

import pytest

from unveil.attacks import ATTACKS, NarayananShmatikov, RecordLinkage, graph_attack_from
from unveil.attacks.specification import attack_from, attack_text
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.nearest import Nearest
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.errors import InputError

OWN = """
class Lucky:
    def __init__(self, *, tries: int = 1) -> None:
        self.tries = tries

    def run(self, *, released, knowledge, rng):
        return self.tries


class Idle:
    pass
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "attacks_of_mine.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_name_alone_takes_what_holds_anyway() -> None:
    assert attack_from("record-linkage") == RecordLinkage()
    assert attack_from(" intersection ") == RankIntersection()


def test_settings_are_of_the_kind_that_the_attack_has() -> None:
    assert attack_from("intersection:p=12.5,columns=age,income") == RankIntersection(p=12.5, columns=("age", "income"))
    assert attack_from('nearest:k=3,"columns=town, county",age') == Nearest(k=3, columns=("town, county", "age"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nearst", "Did you mean 'nearest'"),
        ("rank-intersection", "here it is called 'intersection'"),
        ("posterior", "here it is called 'bayes'"),
        ("nearest:n=3", "no setting 'n'"),
        ("nearest:k=many", "must be a whole number"),
        ("nearest:k=0", "at least 1"),
        ("intersection:p=0", "above 0"),
        ("intersection:p=101", "at most 100"),
        ("bayes:mechanism=mine", "log_likelihood"),
        ("attacks_of_mine:Idle", "the method 'run'"),
        ("attacks_of_mine:Lcky", "Did you mean 'Lucky'"),
        ("no_such_module_here:Lucky", "cannot be imported"),
        ("", "there is no attack"),
    ],
)
def test_what_is_no_attack_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r".") as caught:
        attack_from(text)
    assert said in str(caught.value)


def test_only_attacks_that_leave_the_right_guess_are_taken() -> None:
    assert attack_from("nearest", leaves=["Beliefs"]) == Nearest()
    with pytest.raises(
        InputError, match="the attack 'linkability' returns Trials, but this needs Beliefs or"
    ) as caught:
        attack_from("linkability", leaves=("Beliefs", "Candidates"))
    on_tables = [each for each in ATTACKS.values() if each.on == "table"]
    fitting = {each.name for each in on_tables if each.leaves in ("Beliefs", "Candidates")}
    assert set(str(caught.value).partition("Choose from ")[2].split(", ")) == fitting


def test_a_class_of_ones_own_needs_no_registration() -> None:
    made = attack_from("attacks_of_mine:Lucky:tries=7", leaves=["Beliefs"])
    assert made.run(released=None, knowledge=None, rng=None) == 7  # type: ignore[arg-type]
    assert attack_text(made) == "attacks_of_mine:Lucky"


@pytest.mark.parametrize(
    "attack",
    [
        RecordLinkage(),
        RecordLinkage(columns=("a", "b"), targets=9),
        RankIntersection(p=5),
        Nearest(k=2, columns=("a",)),
    ],
)
def test_an_attack_is_written_as_it_is_read(attack: object) -> None:
    assert attack_from(attack_text(attack)) == attack


def test_a_mechanism_is_never_written() -> None:
    class Secretive:
        def log_likelihood(self, original: object, released: object, rows: object) -> object: ...

    assert attack_text(replace(Bayes(least=0.5), mechanism=Secretive())) == "bayes:least=0.5"  # type: ignore[arg-type]


def test_attacks_on_graphs_go_by_their_letters_too() -> None:
    assert graph_attack_from("ns:theta=1") == graph_attack_from("NS:theta=1") == NarayananShmatikov(theta=1.0)
    assert attack_text(graph_attack_from("jlsb:neighbours=7")) == "ji-li-srivatsa-beyah:neighbours=7"
    with pytest.raises(InputError, match="the attack 'nearest' is on a table, not on a graph"):
        graph_attack_from("nearest")
    with pytest.raises(InputError, match="the attack 'distance-vector' is on a graph, not on a table"):
        attack_from("distance-vector")
