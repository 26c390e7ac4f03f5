"""Re-identification: figures by definition, attacks that are valid and attacks that are not, and what is refused."""

import json
from dataclasses import dataclass, replace
from math import floor, log
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.nearest import Nearest
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError, NobodyFitsError
from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction
from unveil.metrics.trials.risk import wilson
from unveil.protections.table.additive_noise import AdditiveNoise
from unveil.protections.table.generalization import Generalization
from unveil.protections.table.rank_swapping import RankSwapping
from unveil.protections.table.shuffle import Shuffle
from unveil.questions.reidentify import verdicts as reidentify_verdicts
from unveil.questions.reidentify.answer import reidentify
from unveil.questions.reidentify.findings import NotRun, ReidentifyFindings
from unveil.questions.reidentify.read import reidentify_sample
from unveil.questions.reidentify.view import next_steps, sentences
from unveil.questions.result import Result

N = 40
PEOPLE = pl.DataFrame(
    {
        "age": [20 + 9 * k % 47 for k in range(N)],
        "income": [7 * k % 41 for k in range(N)],
        "height": [11 * k % 43 for k in range(N)],
    }
)
TABLE = Table.from_frame(PEOPLE, name="original", roles=dict.fromkeys(PEOPLE.columns, "known"))


def release(p: float = 10, seed: int = 1, table: Table = TABLE) -> Release:
    return RankSwapping(p=p).apply(table, rng=np.random.default_rng(seed))


def ask(*attacks: Any, of: Release | None = None, **more: Any) -> Result[ReidentifyFindings]:
    given_release = release() if of is None else of
    return reidentify(given_release.original, given_release, attacks=attacks, rng=np.random.default_rng(3), **more)


@dataclass(frozen=True, kw_only=True)
class Fixed:
    """An adversary who believes the same set of every row."""

    members: tuple[int, ...]
    size: int = N

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
        return Beliefs(self.size, (MassFunction.from_set(self.size, self.members),) * released.rows)


@dataclass(frozen=True, kw_only=True)
class Voting:
    """An adversary who bets by the same probabilities on every row."""

    weights: tuple[float, ...]

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:  # noqa: ARG002
        return Candidates.from_matrix([self.weights] * released.rows)


# --- the figures by definition ----------------------------------------------------------------------------------------


def windows(of: Release, p: float, columns: list[str]) -> list[set[int]]:
    """Return the original rows within the window of each released row, by counting (all values differ)."""
    reach = floor(p * N / 100)
    ranks = {
        name: ([sorted(PEOPLE[name]).index(v) for v in PEOPLE[name]], [sorted(PEOPLE[name]).index(v) for v in masked])
        for name, masked in ((name, of.released.frame[name].to_list()) for name in columns)
    }
    return [
        {i for i in range(N) if all(abs(before[i] - after[j]) <= reach for before, after in ranks.values())}
        for j in range(N)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_step_of_the_window_attack_is_what_counting_gives(seed: int) -> None:
    made = release(seed=seed)
    answer = ask("intersection:p=10", of=made, quasi_identifiers=["height", "age", "income"])
    (attacked,) = answer.findings.attacks
    truth = np.asarray(made.truth)
    for size, step in enumerate(attacked.steps[1:], 1):
        sets = windows(made, 10, ["height", "age", "income"][:size])
        hits = float(sum(1 / len(sets[j]) for j in range(N) if truth[j] in sets[j]))
        assert step.known == size
        assert step.column == ["height", "age", "income"][size - 1]
        assert step.attack_rate.value == pytest.approx(hits / N)
        assert (step.attack_rate.low, step.attack_rate.high) == pytest.approx(
            (wilson(hits, N).low, wilson(hits, N).high)
        )
        assert step.nonspecificity == pytest.approx(np.mean([log(len(each)) for each in sets]))
        assert step.entropy == pytest.approx(step.nonspecificity)
    assert attacked.confusion == min(len(each) for each in sets)
    assert attacked.typical_confusion == np.median([len(each) for each in sets])
    assert attacked.steps[0].attack_rate.value == 1 / N
    assert attacked.steps[0].nonspecificity == pytest.approx(log(N))
    doubt = [step.nonspecificity for step in attacked.steps]
    assert doubt == sorted(doubt, reverse=True)


@pytest.mark.parametrize("seed", range(4))
def test_the_window_attack_is_valid_at_both_levels_and_a_smaller_window_is_not(seed: int) -> None:
    made = release(seed=seed)
    right, wrong = ask("intersection:p=10", "intersection:p=5", of=made).findings.attacks
    assert right.is_valid is True
    assert (right.record_level.valid, right.record_level.invalid) == (N, 0)
    assert right.file_level.invalid == 0
    assert right.witness == ""
    nobody = [j for j, each in enumerate(windows(made, 5, PEOPLE.columns)) if not each]
    assert nobody
    assert (wrong.nobody, wrong.is_valid) == (len(nobody), False)
    assert wrong.record_level.invalid >= len(nobody)
    assert wrong.record_level.valid + wrong.record_level.invalid == N
    assert f"For {len(nobody)} of {N} released records no candidate is left" in wrong.witness
    assert f"record {nobody[0] + 1} (counted from 1)" in wrong.witness


def test_rows_that_nobody_fits_are_set_aside_until_the_attack_can_be_run(approved: Approved) -> None:
    @dataclass(frozen=True)
    class Refusing:
        def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:
            if released.rows > N - 3:
                # First rows 0 and 5, and then the new row 1, which was row 2.
                raise NobodyFitsError("nobody fits", (0, 5) if released.rows == N else (1,))
            return Fixed(members=(1, 2)).run(released=released, knowledge=knowledge, rng=rng)

    made = release()
    (attacked,) = ask(Refusing(), of=made).findings.attacks
    assert (attacked.nobody, attacked.attempted, attacked.targets) == (3, N - 3, N)
    approved(attacked.witness)
    truth = np.delete(np.asarray(made.truth), [0, 2, 5])
    assert attacked.attack_rate.value == pytest.approx(np.isin(truth, [1, 2]).sum() / 2 / N)


def test_bayes_is_the_truth_at_the_level_of_records_and_gets_the_mechanism() -> None:
    made = release()
    (attacked,) = ask("bayes", of=made).findings.attacks
    assert attacked.record_level.share == 1
    posterior = Bayes(mechanism=made.mechanism).run(
        released=made.released, knowledge=Knowledge(made.original), rng=np.random.default_rng(0)
    )
    best = [
        int(posterior.candidate[a:b][posterior.probability[a:b].argmax()])
        for a, b in zip(posterior.start[:-1], posterior.start[1:], strict=True)
    ]
    assert attacked.attack_rate.value == pytest.approx(np.mean(np.array(best) == made.truth))
    assert (attacked.leaves, attacked.steps[-1].nonspecificity) == ("Candidates", 0)
    assert attacked.steps[-1].entropy == pytest.approx(float(posterior.summary.entropy.mean() * log(2)))


def test_an_attack_on_whom_nobody_can_be_is_refuted_with_a_sentence() -> None:
    (attacked,) = ask(Nearest()).findings.attacks
    assert attacked.is_valid is False
    assert attacked.witness.startswith("Released record ")
    assert attacked.witness.endswith("incompatible with the record-level truth.")


def test_naming_one_person_whatever_is_released_is_not_valid() -> None:
    always = tuple(float(k == 3) for k in range(N))
    for attacked in ask(Fixed(members=(3,)), Voting(weights=always)).findings.attacks:
        assert attacked.is_valid is False
        assert attacked.refuted >= N - 1
        assert attacked.attack_rate.value == pytest.approx(1 / N)


def test_knowing_nobody_is_valid_and_hits_by_blind_chance() -> None:
    (attacked,) = ask(Fixed(members=tuple(range(N)))).findings.attacks
    assert attacked.is_valid is True
    assert attacked.attack_rate.value == pytest.approx(1 / N)
    assert attacked.confusion == N


# --- verdicts without the truth ---------------------------------------------------------------------------------------


def test_attacks_that_contradict_each_other_are_named_without_looking_at_the_truth() -> None:
    answer = ask(Fixed(members=(0, 1)), Fixed(members=(2, 3, 4)), Fixed(members=(1, 2)))
    (clash,) = answer.findings.clashes
    names = [each.attack for each in answer.findings.attacks]
    assert (clash.first, clash.second, clash.records, clash.of) == (*names[:2], N, N)
    assert names[0].endswith("Fixed:members=0,1")


def test_a_probability_contradicts_only_by_whom_it_rules_out() -> None:
    likely, other = (Voting(weights=(p, 1 - p, *[0.0] * (N - 2))) for p in (0.9, 0.1))
    assert ask(likely, other).findings.clashes == ()
    (clash,) = ask(likely, Fixed(members=(5,))).findings.clashes
    assert clash.records == N


def test_equal_records_that_are_told_apart_are_noted() -> None:
    @dataclass(frozen=True)
    class ByPosition:
        def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
            return Beliefs(N, tuple(MassFunction.from_set(N, [row]) for row in range(released.rows)))

    people = PEOPLE.with_columns(pl.Series("age", [30, 40] * (N // 2)))
    made = release(table=Table.from_frame(people, name="original"))
    assert any("Definition 10" in note for note in ask(ByPosition(), of=made, quasi_identifiers=["age"]).findings.notes)
    assert not any(
        "Definition 10" in note for note in ask(Nearest(), of=made, quasi_identifiers=["age"]).findings.notes
    )


def test_a_release_made_elsewhere_has_hits_but_no_verdict(approved: Approved) -> None:
    made = release()
    answer = reidentify(PEOPLE, made.released, truth=made.truth, attacks=[Nearest()], rng=np.random.default_rng(1))
    (attacked,) = answer.findings.attacks
    assert attacked.is_valid is None
    assert np.isnan(attacked.record_level.share)
    assert np.isnan(attacked.file_level.share)
    approved(attacked.record_level.why)
    assert attacked.attack_rate == ask(Nearest(), of=made).findings.attacks[0].attack_rate
    found = json.loads(answer.to_json())
    assert found["protect"] is None
    assert found["attacks"][0]["valid"]["record_level"] is None
    assert "not known" in found["attacks"][0]["valid"]["why"]["file_level"]


def test_a_declared_method_is_judged_as_if_the_release_had_been_made_here() -> None:
    made = release()
    attacks: list[Any] = ["bayes", "intersection", "nearest"]
    here = reidentify(PEOPLE, made, attacks=[Nearest()], rng=np.random.default_rng(3)).findings.attacks[0]
    answer = reidentify(
        PEOPLE, made.released, truth=made.truth, method="rank-swapping:p=10", attacks=attacks,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    found = answer.findings
    assert (found.declared, found.against) == (True, ())
    assert [each.is_valid for each in found.attacks] == [True, True, False]
    assert (found.attacks[2].record_level, found.attacks[2].attack_rate) == (here.record_level, here.attack_rate)
    told = json.loads(answer.to_json())
    assert (told["declared"], told["cannot_have_made_it"]) == (True, [])


def test_a_method_that_cannot_have_made_the_file_gives_no_verdict_and_says_why() -> None:
    made = release()
    answer = reidentify(
        PEOPLE, made.released, truth=made.truth, method="rank-swapping:p=2.5", attacks=[Nearest()],
        rng=np.random.default_rng(3),
    )  # fmt: skip
    found = answer.findings
    (attacked,) = found.attacks
    assert attacked.is_valid is None
    assert "cannot have made the file" in attacked.record_level.why
    assert any("values moved beyond the window of 1 ranks" in each for each in found.against)
    said = sentences(found)
    assert said[0] == (
        "The release cannot come from the declared masking rank-swapping:p=2.5: "
        f"{found.refuting} of {N} records refute it."
    )
    assert next_steps(found)[0].startswith("Correct the declared masking")
    assert json.loads(answer.to_json())["attacks"][0]["valid"]["counts"]["record_level"]["valid"] is None


def moved_too_far(made: Release, window: int) -> int:
    """Count the released rows with a number that no swap within the window puts there, rank by rank."""
    assert made.truth is not None
    far = set()
    for name in PEOPLE.columns:
        ranked = sorted(TABLE.frame[name].to_list())
        for row, (origin, new) in enumerate(zip(made.truth, made.released.frame[name], strict=True)):
            old = TABLE.frame[name][int(origin)]
            places = [[place for place, value in enumerate(ranked) if value == each] for each in (old, new)]
            if min(abs(one - other) for one in places[0] for other in places[1]) > window:
                far.add(row)
    return len(far)


def test_an_attack_that_needs_a_refuted_method_is_reported_as_not_run() -> None:
    made = release()
    answer = reidentify(
        PEOPLE, made.released, truth=made.truth, method="rank-swapping:p=2.5",
        attacks=["bayes", "candidate-set", Nearest()], rng=np.random.default_rng(3),
    )  # fmt: skip
    assert [each.attack for each in answer.findings.attacks] == ["nearest"]
    assert answer.findings.not_run == tuple(
        NotRun(each, "it needs the method that made the release") for each in ("bayes", "candidate-set")
    )
    alone = reidentify(PEOPLE, made.released, truth=made.truth, method="rank-swapping:p=2.5", attacks=["bayes"])
    told = json.loads(alone.to_json())
    assert (told["attacks"], told["not_run"][0]["attack"]) == ([], "bayes")
    assert told["refuting_records"] == alone.findings.refuting == moved_too_far(made, window=1) > 0
    assert alone.to_polars().height == 0
    with pytest.raises(InputError, match="no chart"):
        alone.plot()


def test_an_attack_with_fewer_columns_need_not_stay_valid_under_noise() -> None:
    """Definition 6 conditions on all of Y: less is seen of the same record, and that is no candidate set."""
    noisy = AdditiveNoise(scale=0.15).apply(TABLE, rng=np.random.default_rng(1))
    whole = reidentify(TABLE, noisy, attacks=["bayes", "bayes:columns=age"], rng=np.random.default_rng(1)).findings
    every, few = whole.attacks
    assert every.record_level.invalid == 0
    assert few.record_level.invalid > 0.2 * N
    coarse = Generalization(k=5).apply(TABLE, rng=np.random.default_rng(1))
    sets = reidentify(TABLE, coarse, attacks=["candidate-set", "candidate-set:columns=age"]).findings
    assert [each.record_level.invalid for each in sets.attacks] == [0, 0]


def test_the_file_level_is_sampled_where_it_is_too_large_to_be_exact() -> None:
    people = pl.DataFrame(np.random.default_rng(2).normal(size=(60, 2)), schema=["a", "b"])
    settings: dict[str, Any] = {
        "method": "additive-noise:scale=0.6",
        "attacks": ["bayes", Fixed(members=tuple(range(60)), size=60)],
    }
    few, none = (reidentify(people, samples=many, **settings).findings for many in (640, 0))
    assert none.attacks[0].file_level.decided == 0
    assert "too many for exact probabilities" in none.attacks[0].file_level.why
    bayes, vacuous = (each.file_level for each in few.attacks)
    assert (vacuous.valid, vacuous.invalid, vacuous.not_shown) == (60, 0, 0)
    assert bayes.not_shown > 0
    assert bayes.not_shown == bayes.undecided
    assert np.isnan(bayes.share)
    assert any("about 640 random assignments of all rows" in note for note in few.notes)
    least = reidentify(people, samples=3, **settings).findings
    assert any("about 32 random assignments of all rows" in note for note in least.notes)  # one for each chain


def test_an_empty_intersection_refutes_an_attack_even_where_the_masking_is_not_known() -> None:
    made = release()
    answer = reidentify(
        PEOPLE, made.released, truth=made.truth, attacks=["intersection:p=5"], rng=np.random.default_rng(1)
    )
    (attacked,) = answer.findings.attacks
    assert attacked.is_valid is False
    assert attacked.refuted == attacked.nobody > 0


# --- what is filled in, drawn, ordered --------------------------------------------------------------------------------


@pytest.mark.parametrize("protect", ["rank-swapping:p=10", "rank-swapping:share=0.1", RankSwapping(share=0.1)])
def test_the_window_is_that_of_the_protection_unless_told(protect: Any) -> None:
    answer = reidentify(PEOPLE, method=protect, attacks=["intersection"], rng=np.random.default_rng(1))
    (attacked,) = answer.findings.attacks
    assert (attacked.attack, attacked.is_valid) == ("intersection:p=10", True)
    assert answer.findings.protect in ("rank-swapping:p=10", "rank-swapping:share=0.1")


def test_columns_are_learnt_in_the_order_named_or_the_most_telling_first() -> None:
    people = PEOPLE.with_columns(pl.Series("sex", ["a", "b"] * (N // 2)), pl.Series("age", [30, 40, 50, 60] * (N // 4)))
    told = ask(
        Nearest(), of=release(table=Table.from_frame(people, name="original")), quasi_identifiers=["sex", "income"]
    )
    assert told.findings.known == ("sex", "income")
    assert "named" in told.findings.order
    found = ask(Nearest(), of=release(table=Table.from_frame(people, name="original")))
    assert found.findings.known[-2:] == ("age", "sex")
    assert "most telling first" in found.findings.order


def test_an_attack_with_columns_of_its_own_learns_nothing_from_others() -> None:
    (attacked,) = ask("intersection:p=10,columns=income", quasi_identifiers=["age", "income"]).findings.attacks
    assert [step.nonspecificity == pytest.approx(log(N)) for step in attacked.steps] == [True, True, False]
    assert attacked.is_valid is True


def test_a_step_that_an_attack_cannot_take_is_a_gap() -> None:
    people = PEOPLE.with_columns(pl.Series("town", ["x", "y", "z", "x"] * (N // 4)))
    made = release(table=Table.from_frame(people, name="original"))
    (attacked,) = ask("intersection:p=10", of=made, quasi_identifiers=["town", "age"]).findings.attacks
    assert np.isnan(attacked.steps[1].nonspecificity)
    assert "order" in attacked.steps[1].why
    assert attacked.steps[2].why == ""


def test_some_rows_can_be_drawn() -> None:
    (attacked,) = ask("record-linkage:targets=7").findings.attacks
    assert (attacked.targets, attacked.attempted, attacked.record_level.decided) == (7, 7, 7)


def test_in_large_files_records_are_drawn_to_be_judged(monkeypatch: pytest.MonkeyPatch, approved: Approved) -> None:
    whole = ask("intersection:p=10", "intersection:p=9", "nearest").findings.attacks
    monkeypatch.setattr(reidentify_verdicts, "MOST_AT_RECORD_LEVEL", 12 * N)
    monkeypatch.setattr(reidentify_verdicts, "MOST_AT_FILE_LEVEL", 12 * N)
    some = ask("intersection:p=10", "intersection:p=9", "nearest").findings.attacks
    assert (some[0].record_level.valid, some[0].record_level.undecided, some[0].is_valid) == (12, N - 12, None)
    approved(some[0].record_level.why)
    assert "at most 480 pairs of rows" in some[0].file_level.why
    assert some[2].record_level.invalid <= whole[2].record_level.invalid
    assert some[2].record_level.decided == 12
    assert some[2].attack_rate == whole[2].attack_rate


def test_rows_that_come_from_nobody_are_no_tries() -> None:
    made = release()
    truth = made.truth.copy()  # type: ignore[union-attr]
    truth[:30] = -1
    answer = reidentify(PEOPLE, made.released, truth=truth, attacks=[Nearest()], rng=np.random.default_rng(1))
    assert answer.findings.somebody == 10
    assert answer.findings.attacks[0].attack_rate.value * 10 == pytest.approx(
        round(answer.findings.attacks[0].attack_rate.value * 10)
    )
    none = reidentify(PEOPLE, made.released, truth=np.full(N, -1), attacks=[Nearest()], rng=np.random.default_rng(1))
    assert np.isnan(none.quantities["attack_rate"].value)


def test_the_order_of_rows_plays_no_part() -> None:
    made = release()
    names = ["intersection:p=10", "intersection:p=5", "bayes", "nearest", "softmax:s=0.3"]
    first = ask(*names, of=made)
    rng = np.random.default_rng(5)
    old, new = rng.permutation(N), rng.permutation(N)
    place = np.argsort(old)
    turned = Release(
        made.original.take(old),
        made.released.take(new),
        truth=place[made.truth[new]],  # type: ignore[index]
        mechanism=made.mechanism,
    )
    second = ask(*names, of=turned)
    for one, other in zip(first.findings.attacks, second.findings.attacks, strict=True):
        assert other.record_level == one.record_level
        assert replace(other.file_level, why="") == replace(one.file_level, why="")
        assert other.attack_rate.value == pytest.approx(one.attack_rate.value)
        assert [step.entropy for step in other.steps] == pytest.approx([step.entropy for step in one.steps])
        assert other.nobody == one.nobody
    assert second.findings.clashes == first.findings.clashes


def test_the_same_seed_gives_the_same_answer() -> None:
    answers = [
        reidentify(
            PEOPLE, method="rank-swapping:p=10", attacks=["intersection", "bayes"], rng=np.random.default_rng(9)
        ).to_json()
        for _ in range(2)
    ]
    assert answers[0] == answers[1]


def test_a_release_in_the_order_of_the_original_is_a_warning_by_itself() -> None:
    answer = reidentify(
        PEOPLE, method="rank-swapping:p=10,shuffle=no", attacks=["intersection"], rng=np.random.default_rng(1)
    )
    assert answer.findings.keeps_order
    assert answer.page().tone == "bad"
    assert not ask("intersection:p=10").findings.keeps_order


def test_the_example_has_a_valid_attack_and_two_that_are_not() -> None:
    people = reidentify_sample()
    assert people.rows == 120
    assert people.frame.equals(reidentify_sample().frame)


def test_figures_are_drawn() -> None:
    from matplotlib import pyplot

    answer = ask("intersection:p=10", "bayes")
    (axes,) = answer.plot()
    assert "share of records re-identified" in axes.get_xlabel()
    pyplot.close("all")


# --- what is refused --------------------------------------------------------------------------------------------------


def refused(said: str, original: Any = PEOPLE, released: Any = None, **settings: Any) -> None:
    settings.setdefault("attacks", ["nearest"])
    with pytest.raises(InputError) as caught:
        reidentify(original, released, rng=np.random.default_rng(1), **settings)
    assert said in str(caught.value)


def test_an_empty_list_of_known_columns_is_the_default() -> None:
    told: dict[str, Any] = {"method": "rank-swapping", "attacks": "nearest"}
    assert reidentify(PEOPLE, quasi_identifiers=[], **told).to_json() == reidentify(PEOPLE, **told).to_json()


def test_what_makes_no_question_is_refused() -> None:
    made = release()
    masked = made.released
    refused("release is missing")
    refused("can only be declared for a given release", method="KAnonymity(3)")
    refused("cannot be declared", released=masked, truth=made.truth, method="gaussian-copula")
    refused("cannot be mapped: pd and alpha only bound", released=masked, truth=made.truth, method="pram(pd=0.8)")
    refused("pairs is", method="rank-swapping", max_pairs=-1)
    refused("true match of each released row is missing", released=masked)
    refused("No attack was named", method="rank-swapping", attacks=[])
    refused("named twice", method="rank-swapping:p=5", attacks=["intersection", "intersection:p=5"])
    refused("rows without an original", method="gaussian-copula")
    refused("there is no protection", method="rank-swaping")
    refused("returns Trials", method="rank-swapping", attacks=["linkability"])
    refused("'wage'", method="rank-swapping", quasi_identifiers=["wage"])
    refused("a column twice", method="rank-swapping", quasi_identifiers=["age", "age"])
    refused("which is not a quasi-identifier", method="rank-swapping", quasi_identifiers=["age"],
            attacks=["nearest:columns=income"])  # fmt: skip
    refused("needs the window of the rank swapping", released=masked, truth=made.truth, attacks=["intersection"])
    refused("no mechanism was passed", released=masked, truth=made.truth, attacks=["bayes"])
    refused("Raise p", method="rank-swapping:p=50", attacks=["intersection:p=0.1"])


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ([0, 0, *range(2, N)], "repeats original rows"),
        ([N, *range(1, N)], "outside 0 to 39"),
        ([-2, *range(1, N)], "outside 0 to 39"),
        (list(range(N - 1)), "one whole number for each of the 40"),
        ([0.5] * N, "one whole number"),
    ],
)
def test_a_truth_that_is_none_is_refused(truth: Any, said: str) -> None:
    refused(said, released=release().released, truth=truth)


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        (Fixed(members=(0,), size=N + 1), "and 40 original rows"),
        (Fixed(members=(0,), size=N - 1), "and 40 original rows"),
        (Voting(weights=(0.5,) * 0 + (0.0,) * N + (1.0,)), "and 40 original rows"),
    ],
)
def test_a_guess_about_something_else_is_refused(attack: Any, said: str) -> None:
    refused(said, method="rank-swapping", attacks=[attack])


def test_an_attack_that_leaves_something_else_is_refused() -> None:
    class Odd:
        def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> str:  # noqa: ARG002
            return "a feeling"

    refused("returns a str", method="rank-swapping", attacks=[Odd()])


def test_no_value_of_the_data_is_in_the_answer() -> None:
    people = PEOPLE.with_columns(pl.Series("town", [f"Zephyrine-{k % 3}" for k in range(N)]))
    answer = reidentify(people, method=Shuffle(), attacks=["nearest", "record-linkage"], rng=np.random.default_rng(1))
    assert "Zephyrine" not in answer.to_json() + answer.to_html()
    assert answer.findings.attacks[0].attack_rate.value == 1


def test_a_window_that_is_not_that_of_the_protection_is_as_told() -> None:
    (attacked,) = ask(RankIntersection(p=20)).findings.attacks
    assert (attacked.attack, attacked.is_valid) == ("intersection:p=20", True)


def test_the_loss_of_utility_stands_beside_the_verdict() -> None:
    losses = {}
    for protect in ("shuffle", "rank-swapping:p=10", "rank-swapping:p=90"):
        answer = reidentify(TABLE, method=protect, attacks=["nearest"], rng=np.random.default_rng(1))
        losses[protect] = json.loads(answer.to_json())["utility"]["loss"]
    assert losses["shuffle"] == 0
    assert 0 < losses["rank-swapping:p=10"] < losses["rank-swapping:p=90"]
