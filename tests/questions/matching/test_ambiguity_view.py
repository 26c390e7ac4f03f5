"""What is said of an attack when nobody said what is true, of unequal sizes, of sets and of several releases."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.approved.sentences import Approved
from unveil.errors import InputError
from unveil.guesses import Matching, MatchingDistribution, UnequalMatching
from unveil.metrics.matchings.cracks import expected_cracks
from unveil.metrics.matchings.permanents import Ambiguity, ambiguity
from unveil.questions.matching.ambiguity_view import explanation, headline, highest, tone
from unveil.questions.matching.answer import matching
from unveil.questions.matching.read import read_sets

HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
TRUE = [2, 3, 4, 0, 1]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def listing(matchings: list[list[int]], chances: list[float], *names: tuple[str, ...]) -> MatchingDistribution:
    return MatchingDistribution(np.array(matchings), np.array(chances), *names)


def found(matrix: object) -> Ambiguity:
    return ambiguity(Matching.from_matrix(matrix), rng=rng())


def test_the_hospital_unit_without_a_truth(approved: Approved) -> None:
    answer = matching(HOSPITAL, rng=rng())
    inner = answer.findings.ambiguity
    approved(headline(inner))
    assert "34% by the attacker's own probabilities" in explanation(inner)[0]
    told = json.loads(answer.to_json())
    assert (told["permanent"]["exact"], told["flat"], told["d"]) == ("18", True, pytest.approx(0.603734, abs=1e-6))
    # Over all 18 truths: 29/18 is the least, and the stated truth has it.
    assert told["expected_cracks"]["least"]["value"] == pytest.approx(29 / 18)
    assert answer.to_polars().columns == ["name", "best_probability", "error"]
    assert len(answer.plot()) == 1


def test_sentences_of_special_attacks(approved: Approved) -> None:
    approved(headline(found(np.eye(3))))
    assert tone(found(np.eye(3))) == "bad"
    uneven = found([[0.6, 0.4], [0.4, 0.6]])
    assert headline(uneven).startswith("The possible matchings have a degree of anonymity of 0.89")
    assert "Matchings are not equally likely." in matching([[0.6, 0.4], [0.4, 0.6]], rng=rng()).page().method
    pinned = found([[1, 0, 0, 0, 0], *[[0, 1, 1, 1, 1]] * 4])
    approved(explanation(pinned)[1])
    assert tone(pinned) == "warning"
    listed = matching(listing([[0, 1, 2], [1, 0, 2], [0, 2, 1]], [0.5, 0.25, 0.25]), rng=rng())
    assert "3 matchings" in listed.page().method[0]
    assert not any("ermanent" in sentence for sentence in listed.page().method)


@pytest.mark.unwatched
def test_bounds_hold_where_pairs_are_sampled() -> None:
    matrix = (np.random.default_rng(2).random((33, 33)) < 0.4) + np.eye(33)
    guess = Matching((matrix > 0).astype(float))
    inner = ambiguity(guess, rng=rng(), precision=0.05)
    assert (inner.most_cracks.kind, inner.least_cracks.kind) == ("bracket", "bracket")
    assert inner.least_cracks.value < inner.believed_cracks.value < highest(inner)
    sharp = ambiguity(guess, rng=np.random.default_rng(5), precision=0.01)
    assert inner.most_cracks.value <= highest(sharp)
    assert sharp.most_cracks.value <= highest(inner)
    assert highest(sharp) - sharp.most_cracks.value < highest(inner) - inner.most_cracks.value
    assert abs(sharp.d.value - inner.d.value) < 3 * inner.d.error
    assert sharp.d.error < inner.d.error


def test_unequal_sizes_are_said() -> None:
    matrix = [row[:4] for row in HOSPITAL]
    answer = matching(matrix, [2, 3, -1, 0, 1], rng=rng())
    page = answer.page()
    assert page.method[0].endswith("Each matching leaves 1 item without a pseudonym.")
    assert "baseline 0.8" in page.headline
    assert answer.to_polars()["pseudonym"].to_list() == ["3", "4", None, "1", "2"]
    told = json.loads(answer.to_json())
    assert (told["n"], told["pseudonyms"], told["pairs"]) == (5, 4, 4)
    assert sum(row["no_pseudonym"] for row in told["items"]) == pytest.approx(1)
    wide = matching(np.ones((2, 4)), [3, 0], rng=rng())
    assert wide.page().method[0].endswith("Each matching leaves 2 pseudonyms without an item.")
    assert wide.findings.cracks.expected_cracks.value == pytest.approx(0.5)
    assert wide.findings.blind @ np.arange(3) == pytest.approx(0.5)


def test_sets_are_said() -> None:
    answer = matching(HOSPITAL, TRUE, sets={"lung": [3, 4], "fever": [0, 1]}, rng=rng())
    # Of 18 matchings 12 give the last two items their pseudonyms, 4 the first two, and 4 do both.
    told = json.loads(answer.to_json())["sets"]
    assert [round(each["found"]["value"] * 18) for each in told["sets"]] == [4, 12]
    assert told["any_found"]["value"] * 18 == pytest.approx(12)
    assert answer.quantities["set_found"].value == pytest.approx(2 / 3)
    section = answer.page().sections[1]
    assert section.heading == "Sets"
    assert "Most at risk: lung, 67% (baseline 10%)." in section.lead


def test_several_releases_are_multiplied_and_each_is_said_alone() -> None:
    second = [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 1], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1]]
    answer = matching(HOSPITAL, TRUE, also=[("May", second)], rng=rng())
    product = np.array(HOSPITAL) * np.array(second)
    assert answer.findings.cracks.expected_cracks.value == pytest.approx(
        expected_cracks(Matching(product), TRUE, rng=rng()).value
    )
    first, may = answer.findings.releases
    assert (first.name, may.name) == ("release 1", "May")
    assert first.expected_cracks is not None
    assert first.expected_cracks.value == pytest.approx(29 / 18)
    assert any("were multiplied" in note for note in answer.findings.notes)
    with pytest.raises(InputError, match="differ in type"):
        matching(HOSPITAL, TRUE, also=[np.ones((5, 4))])


def test_releases_with_names_in_another_order_are_the_same_attack(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",u,v,w\nFlu,1,2,3\nCold,1,0,1\nGout,2,1,1\n")
    (tmp_path / "b.csv").write_text(",w,u,v\nGout,1,1,3\nFlu,2,1,1\nCold,1,5,1\n")
    answer = matching(tmp_path / "a.csv", also=[tmp_path / "b.csv"], rng=rng())
    # In the order of the first file the products are 1, 2, 6 for Flu, 5, 0, 1 for Cold and 2, 3, 1 for Gout.
    product = Matching([[1, 2, 6], [5, 0, 1], [2, 3, 1]])
    assert answer.findings.ambiguity.d.value == pytest.approx(ambiguity(product, rng=rng()).d.value)
    assert [each.name for each in answer.findings.releases] == ["a.csv", "b.csv"]


def test_combined_distributions_are_products_on_what_all_allow() -> None:
    one = listing([[0, 1, 2], [1, 0, 2], [2, 1, 0]], [0.5, 0.25, 0.25], ("a", "b", "c"), ("u", "v", "w"))
    other = listing([[0, 1, 2], [2, 0, 1]], [0.25, 0.75], ("b", "a", "c"), ("u", "v", "w"))
    # In the names of the first, the second allows a=v, b=u, c=w alone among those of the first.
    assert one.combined(other).matchings.tolist() == [[1, 0, 2]]
    with pytest.raises(InputError, match="No matching of the first releases is possible"):
        one.combined(listing([[1, 2, 0]], [1.0], ("a", "b", "c"), ("u", "v", "w")))


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([Matching(np.ones((3, 3)))], "the first has 2, release 2 has 3"),
        ([Matching([[0, 1], [1, 0]])], "is possible in all releases"),
        ([Matching(np.ones((2, 2)), items=("a", "b"))], "Only one of the first release and release 2"),
    ],
)
def test_releases_that_do_not_fit_are_refused(others: list[Matching], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Matching(np.eye(2)).combined(*others)


def test_unequal_releases_must_agree_on_the_pairs() -> None:
    one, other = UnequalMatching([[1, 1, 0], [0, 1, 1]]), UnequalMatching([[2, 1, 1], [1, 1, 4]])
    assert one.combined(other).matrix.tolist() == [[0.5, 0.25, 0.0], [0.0, 0.25, 1.0]]
    with pytest.raises(InputError, match="different numbers of pairs"):
        one.combined(UnequalMatching([[2, 1, 1], [1, 1, 4]], pairs=1))


def test_sets_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "sets.csv"
    file.write_text("set,item\nviral,Flu\nviral,Cold\nall,Cold\n")
    guess = Matching(np.ones((2, 2)), items=("Flu", "Cold"))
    assert read_sets(file, guess) == {"viral": ["Flu", "Cold"], "all": ["Cold"]}
    for content, said in (("set,item\na,Gout\n", "name an item"), ("set,item\na,Flu\na,Flu\n", "row 2"),
                          ("set,item\n,Flu\n", "'set'"), ("set,item\n", "header only")):  # fmt: skip
        file.write_text(content)
        with pytest.raises(InputError, match=said):
            read_sets(file, guess)
