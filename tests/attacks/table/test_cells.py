"""Attacks on releases with coarse cells: what the definitions say, row by row and value by value."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import cells as oracle
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure
from unveil.attacks.table.candidate_set import CandidateSet
from unveil.attacks.table.fellegi_sunter import FellegiSunter
from unveil.attacks.table.inference import Guess, Inference
from unveil.attacks.table.linkability import Linkability
from unveil.attacks.table.membership import Membership
from unveil.attacks.table.nearest import Nearest, Softmax
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.attacks.table.record_linkage import RecordLinkage
from unveil.attacks.table.row_order import RowOrder
from unveil.attacks.table.singling_out import SinglingOut
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError
from unveil.metrics.releases.closeness import distance_to_closest, exact_copies, nearest_distance_ratio

KINDS: dict[str, Any] = {"age": "number", "town": "category", "pay": "number", "ill": "category"}
KNOWN = ("age", "town", "pay")
AGE, ILL = "age", "ill"
ILLNESSES = ("flu", "gout", "cold")
Person = tuple[Any, ...]

#: What a cell holds, and two of the ways to write it.
AGES: dict[Any, tuple[Any, Any]] = {
    "all": ("*", "suppressed"),
    (20, 22): ("20-22", "[20,23)"),
    (21, 25): ("[21;25]", "(20,26)"),
    (23, None): ("23+", ">22"),
    (None, 21): ("<22", "up to 21"),
    (22, 22): ("22", "22.0"),
    (25, 25): ("25", "[25,25]"),
    "none": ("young", "young"),
}
TOWNS: dict[Any, tuple[Any, Any]] = {
    "all": ("*", "REDACTED"),
    frozenset({"Ulm", "Bonn"}): ("{Ulm,Bonn}", "Bonn or Ulm"),
    frozenset({"Köln"}): ("Köln", "köln"),
    frozenset({"Ulm"}): ("Ulm", "ULM "),
}
PAYS = (1, 2, 4)
people_of = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(20, 26)),
        st.sampled_from(["Ulm", "Bonn", "Köln"]),
        st.sampled_from(PAYS),
        st.sampled_from(ILLNESSES),
    ),
    min_size=2,
    max_size=6,
)
rows_of = st.lists(
    st.tuples(
        st.sampled_from(list(AGES)), st.sampled_from(list(TOWNS)), st.sampled_from(PAYS), st.sampled_from(ILLNESSES)
    ),
    min_size=4,
    max_size=7,
)
#: All towns and illnesses are there, and some ages and pays apart, so that all that is written can be read.
ALWAYS = [(20, "Ulm", 1, "flu"), (26, "Bonn", 4, "gout"), (22, "Köln", 2, "cold")]
COARSE = [((20, 22), frozenset({"Ulm", "Bonn"}), 1, "flu"), ("all", frozenset({"Köln"}), 2, "gout")]


def table(rows: list[Person], name: str) -> Table:
    schema = {"age": pl.Int64, "town": pl.String, "pay": pl.Int64, "ill": pl.String}
    return Table.from_frame(pl.DataFrame(rows, schema=schema, orient="row"), name=name, kinds=KINDS)


def shown(rows: list[Any], way: int = 0) -> Table:
    """Return the release in one of its spellings."""
    frame = pl.DataFrame(
        {
            "age": [AGES[row[0]][way] for row in rows],
            "town": [TOWNS[row[1]][way] for row in rows],
            "pay": [row[2] for row in rows],
            "ill": [row[3] for row in rows],
        }
    )
    return Table.from_frame(frame, name="released")


def held(rows: list[Any]) -> list[list[oracle.Held]]:
    """Return what the cells of the known columns hold."""
    return [[age, town, (pay, pay)] for age, town, pay, _ in rows]


class Case:
    """People, rows, and others: everything that an attack takes and the definition needs."""

    def __init__(self, people: list[Person], rows: list[Any], control: list[Person]) -> None:
        self.people, self.control = ALWAYS + people, control + ALWAYS[:1]
        # At most half of the ages may be unreadable.
        self.rows = COARSE * 4 + rows
        self.pool = oracle.Pool([person[:3] for person in self.people + self.control])
        self.held = held(self.rows)
        self.release = Release(table(self.people, "original"), shown(self.rows), table(self.control, "control"))
        self.knowledge = Knowledge(self.release.original, self.release.control)

    def run(self, attack: Any, way: int = 0) -> Any:
        released = self.release.released
        if way:
            original, control = table(self.people, "original"), table(self.control, "control")
            released = Release(original, shown(self.rows, way), control).released
        return attack.run(released=released, knowledge=self.knowledge, rng=np.random.default_rng(1))


cases = st.builds(Case, people_of, rows_of, people_of)
check = settings(deadline=None, max_examples=30)


def by_row(attempts: Any) -> list[float]:
    """Return the chances in the order of the rows attacked."""
    return list(attempts.chances[np.argsort(attempts.rows, kind="stable")])


def close(found: list[float], expected: list[Fraction]) -> None:
    assert found == pytest.approx([float(each) for each in expected], abs=1e-12)
    assert [each in (0.0, 1.0) for each in found] == [each in (0, 1) for each in expected]


@check
@given(cases, st.sampled_from(["lot", "class"]), st.integers(1, 3))
def test_inference_is_drawn_by_weight_or_the_likeliest(case: Case, guess: Guess, k: int) -> None:
    attack = Inference(secret=ILL, known=KNOWN, neighbours=k, targets=None, guess=guess)
    found, again = case.run(attack), case.run(attack, way=1)
    right = oracle.right_by_lot if guess == "lot" else oracle.right_if_likeliest
    secrets = [row[3] for row in case.rows]
    for attempts, other, people in (
        (found.attack, again.attack, case.people),
        (found.control, again.control, case.control),
    ):
        expected = [right(oracle.masses(case.pool, who[:3], case.held, k), secrets, who[3]) for who in people]
        close(by_row(attempts), expected)
        # Another spelling of the same cells gives the same bytes.
        assert attempts.chances.tobytes() == other.chances.tobytes()
    blind = [right([Fraction(1, len(secrets))] * len(secrets), secrets, who[3]) for who in case.people]
    close(by_row(found.naive), blind)


@check
@given(cases)
def test_disclosure_believes_the_compatible_rows(case: Case) -> None:
    attack = AttributeDisclosure(secret=ILL, known=KNOWN, targets=None)
    found = attack.details(released=case.release.released, knowledge=case.knowledge, rng=np.random.default_rng(1))
    secrets = [row[3] for row in case.rows]
    expected = [oracle.disclosed(case.pool, who[:3], case.held, secrets, who[3]) for who in case.people]
    close(by_row(found.trials.attack), [chance for chance, _, _ in expected])
    assert by_row(found.sure) == [sure for _, sure, _ in expected]
    assert by_row(found.sure_of_shown) == [sure for _, _, sure in expected]


@check
@given(cases, st.integers(1, 3))
def test_links_go_by_distance_then_weight_then_lot(case: Case, k: int) -> None:
    for first, second in ((("age", "town"), ("pay",)), (("age",), ("town", "pay"))):
        attack = Linkability(first=first, second=second, neighbours=k, targets=None)
        found, again = case.run(attack), case.run(attack, way=1)
        assert found.attack.chances.tobytes() == again.attack.chances.tobytes()
        expected = []
        for who in case.people:
            ways = []
            for names in (first, second):
                at = [KNOWN.index(name) for name in names]
                pool = oracle.Pool([[person[place] for place in at] for person in case.pool.rows])
                rows = [[row[place] for place in at] for row in case.held]
                if names == ("pay",):
                    # Where all cells are single values rows do not weigh.
                    pool = oracle.Pool([[pay] for pay in PAYS])
                ways.append(oracle.near_ways(pool, [who[place] for place in at], rows, k))
            expected.append(oracle.linked(*ways))
        close(by_row(found.attack), expected)


@check
@given(cases)
def test_released_rows_lead_to_the_people_inside(case: Case) -> None:
    guess = case.run(RecordLinkage(columns=KNOWN))
    beliefs = case.run(Nearest(columns=KNOWN))
    softmax = case.run(Softmax(columns=("town",), s=0.5))
    for at, row in enumerate(case.held):
        far = [case.pool.apart(who[:3], row) for who in case.people]
        nearest = [person for person, each in enumerate(far) if each == min(far)]
        part = slice(guess.start[at], guess.start[at + 1])
        assert guess.candidate[part].tolist() == nearest
        assert guess.probability[part].tolist() == [1 / len(nearest)] * len(nearest)
        assert beliefs.each[at].sets[0].tolist() == nearest
        weight = np.exp([-2.0 * (not oracle.compatible(who[1], row[1])) for who in case.people])
        part = slice(softmax.start[at], softmax.start[at + 1])
        np.testing.assert_allclose(softmax.probability[part], weight / weight.sum())


@check
@given(cases)
def test_closeness_and_copies(case: Case) -> None:
    far = [sorted(case.pool.apart(who[:3], row) for who in case.people) for row in case.held]
    near = distance_to_closest(case.release, columns=KNOWN).released
    assert near.median == pytest.approx(float(np.median([float(each[0] / 3) for each in far])))
    ratios = [float(each[0] / each[1]) for each in far if each[1]]
    ratio = nearest_distance_ratio(case.release, columns=KNOWN)
    assert ratio.blunt
    assert ratio.released.undefined == len(far) - len(ratios)
    if ratios:
        assert ratio.released.median == pytest.approx(float(np.median(ratios)))
    copies = exact_copies(case.release, columns=KNOWN)
    assert copies.fit_one is not None
    assert copies.control_fit_one is not None
    for share, people in ((copies.fit_one, case.people), (copies.control_fit_one, case.control)):
        alone = [sum(all(map(oracle.compatible, who, row)) for who in people) == 1 for row in case.held]
        assert share.value == pytest.approx(np.mean(alone))
    single = [row for row in case.rows if row[0] in ((22, 22), (25, 25)) and row[1] != "all" and len(row[1]) == 1]
    assert copies.rows == len(single)
    have = {who[:3] for who in case.people}
    assert copies.copied == sum((age[0], *town, pay) in have for age, town, pay, _ in single)


@check
@given(cases, st.integers(1, 2))
def test_a_cell_is_a_description_of_all_people_inside(case: Case, size: int) -> None:
    used = [(row[0], row[1]) for row in case.rows]
    expected = []
    for columns in ((0,), (1,)) if size == 1 else ((0, 1),):
        boxes = [tuple(row[at] for at in columns) for row in used]
        for box in set(boxes):
            if boxes.count(box) == 1 and not {"all", "none"} & set(box):
                inside = [
                    all(oracle.compatible(who[at], cell) for at, cell in zip(columns, box, strict=True))
                    for who in case.people
                ]
                expected.append(sum(inside))
    attack = SinglingOut(columns=("age", "town"), size=size, guesses=200)
    if not expected:
        with pytest.raises(InputError, match=f"no predicate on {size} of 2 columns fits exactly one row"):
            attack.guess(case.release.released, rng=np.random.default_rng(1))
        return
    found = attack.guess(case.release.released, rng=np.random.default_rng(1))
    assert sorted(found.counts(case.release.original).tolist()) == sorted(expected)


def test_candidate_sets_hold_whoever_is_compatible() -> None:
    case = Case([(None, "Ulm", 2, "flu"), (24, "Ulm", 2, "flu")], [((23, None), "all", 2, "flu")], [])
    released = case.release.released.take([0, 1, 8])
    attack = CandidateSet(columns=("age", "town"))
    guess = attack.run(released=released, knowledge=case.knowledge, rng=np.random.default_rng(1))
    assert [mass.sets[0].tolist() for mass in guess.each] == [[0], [2], [1, 4]]
    wider = CandidateSet(columns=("age",), reach=1.0)
    guess = wider.run(released=released.select(["age"]), knowledge=case.knowledge, rng=np.random.default_rng(1))
    assert [mass.sets[0].tolist() for mass in guess.each] == [[0, 2, 4], [0, 1, 2, 3, 4], [1, 2, 4]]


def test_members_are_as_far_as_the_gap() -> None:
    rng = np.random.default_rng(5)
    people, others = ([(int(age), "Ulm", 1, "flu") for age in rng.integers(20, 90, 60)] for _ in range(2))
    frame = pl.DataFrame({"age": [f"{age // 10 * 10}-{age // 10 * 10 + 4}" for age, *_ in people]})
    original, control = table(people, "original").select(["age"]), table(others, "control").select(["age"])
    release = Release(original, Table.from_frame(frame, name="released"), control)
    bands = {(age // 10 * 10, age // 10 * 10 + 4) for age, *_ in people}
    pool = oracle.Pool([person[:1] for person in people + others])
    knowledge, rng = Knowledge(original, release.control), np.random.default_rng(1)
    found = Membership(columns=("age",), targets=None).scores(released=release.released, knowledge=knowledge, rng=rng)
    near = sorted(min(pool.distance(0, age, band) for band in bands) for age, *_ in people)
    assert sorted(-found.members) == pytest.approx([float(each) for each in near])


def test_rows_in_their_old_order_are_compatible_with_it() -> None:
    rng = np.random.default_rng(3)
    ages = rng.integers(20, 90, 200)
    original = Table.from_frame(pl.DataFrame({"age": ages}), name="original")
    frame = pl.DataFrame({"age": [f"[{age // 5 * 5},{age // 5 * 5 + 5})" for age in ages]})
    for way, p_value in ((frame, 0.001), (frame.sample(fraction=1.0, shuffle=True, seed=1), 0.05)):
        released = Table.from_frame(way, name="released")
        test = RowOrder().test(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
        assert (test.distance == 0.0) == (way is frame)
        assert (test.p_value <= p_value) == (way is frame)
    bands = [(age // 5 * 5, age // 5 * 5 + 4) for age in ages.tolist()]
    pool = oracle.Pool([[age] for age in ages.tolist()])
    far = [float(pool.distance(0, age, band)) for age in ages.tolist() for band in bands]
    assert test.by_chance == pytest.approx(np.mean(far))


def test_attacks_that_need_single_values_pass_the_others_over() -> None:
    case = Case([], [], [])
    knowledge = Knowledge(case.release.original)
    rng = np.random.default_rng(1)
    guess = FellegiSunter(columns=KNOWN).run(released=case.release.released, knowledge=knowledge, rng=rng)
    assert guess.target_count == len(case.rows)
    with pytest.raises(InputError, match="column 'age' of the released has range cells, which have no ranks"):
        RankIntersection(p=10, columns=("age",)).run(released=case.release.released, knowledge=knowledge, rng=rng)
    only = RankIntersection(p=100).run(released=case.release.released, knowledge=knowledge, rng=rng)
    assert only.target_count == len(case.rows)


@pytest.mark.parametrize(
    ("cells", "truth", "expected"),
    [
        # One in three of the released single values inside 20-29 is 25, and 31 is not inside.
        (["20-29", "25", "21", "21"], 25, [1 / 3, 1, 0, 0]),
        (["20-29", "31", "31", "31"], 25, [1 / 2, 0, 0, 0]),
        (["*", "25", "31", "31"], 25, [1 / 3, 1, 0, 0]),
        (["young", "20-29", "31", "25"], 31, [0, 0, 1, 0]),
    ],
)
def test_a_coarse_secret_is_drawn_from_its_set(cells: list[str], truth: int, expected: list[float]) -> None:
    """Row i can be told by its key: frequencies are those of the release, or alike for all whom it could be."""
    original = Table.from_frame(pl.DataFrame({"key": list("abcd"), "age": [21, truth, 25, 31]}), name="original")
    released = Table.from_frame(pl.DataFrame({"key": list("abcd"), "age": cells}), name="released")
    asked = Table.from_frame(pl.DataFrame({"key": list("abcd"), "age": [truth] * 3 + [21]}), name="asked").take(
        [0, 1, 2]
    )
    release = Release(original, released)
    for attack in (
        Inference(secret=AGE, known=("key",), targets=None, tolerance=0.0),
        AttributeDisclosure(secret=AGE, known=("key",), targets=None, tolerance=0.0),
    ):
        trials = attack.run(
            released=release.released, knowledge=Knowledge(asked, scale=original), rng=np.random.default_rng(1)
        )
        assert by_row(trials.attack) == pytest.approx(expected[:3])
