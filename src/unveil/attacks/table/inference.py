"""Attribute inference from similar released rows."""

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.neighbours.best_rows import RightRanks
from unveil._kernels.neighbours.guesses import ReleasedSecrets, guess_chances
from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank
from unveil._kernels.neighbours.secret_chances import right_chances
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table import _guessers, _secrets
from unveil.attacks.table._features import features
from unveil.errors import InputError, whole_number
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable
    from unveil.data.table.release import Knowledge

Guess = Literal["lot", "class"]


class Model(Protocol):
    """A model that predicts one number per row, as in scikit-learn."""

    def fit(self, X: FloatArray, y: NDArray[Any], /) -> Any:  # noqa: N803
        """Learn."""

    def predict(self, X: FloatArray, /) -> Any:  # noqa: N803
        """Return one guess per row."""


class _Target(NamedTuple):
    """Attacked people of one table, with truth and quasi-identifiers."""

    table: "Table"
    truth: _secrets.SecretTruth
    known: IntegerGrid


@attack(
    source="anonymeter 1.1.0 (Giomi, Boenisch, Wehmeyer & Tasnádi, PoPETs 2023), but with random ties and "
    "numbers correct relative to the true value",
    example="secret=vote,known=age,education",
    knows=("known",),
)
@dataclass(frozen=True, kw_only=True)
class Inference:
    """Infer a sensitive attribute from the most similar released rows.

    The guess is the sensitive value of a released row drawn at random among the nearest in the quasi-identifiers. The
    chance that it is correct is computed exactly: nothing depends on the order of rows, and quasi-identifiers that say
    nothing give exactly what guessing blindly gives. Other attackers look at all rows, see ``adversary``; with a
    ``model``, that guesses instead, after learning from the released rows.

    Where released cells stand for several values, the nearest rows are those with the smallest gap, which is 0 for all
    that a person is compatible with. They are drawn in proportion to their weights, the inverse of the share of people
    inside each cell: a row of stars is compatible with everyone, and says the less for it.

    A number is right if it is off by at most ``tolerance`` times the true value, whatever the sign, so that a true 0
    needs a 0; all else (categories, ordered values, truth values, texts, and dates, which have no 0 to be relative to)
    is correct if it is equal. A missing guess is wrong. People whose sensitive value is missing are not attacked.

    Attributes
    ----------
    secret
        The column to guess.
    known
        The columns that the attacker knows, at least one, without the sensitive value.
    neighbours
        How many nearest released rows the guess is drawn from; rows that tie for the last place are drawn at random.
    tolerance
        How far off a guess of a number may be, as a share of the true value, from 0 up to, but not, 1.
    targets
        How many people to attack, drawn at random among those with a sensitive value by what is in the rows; None =
        all. As many are drawn from the control. Where there are fewer, all are attacked.
    guess
        "lot" for the sensitive value of a row that is drawn, "class" for the most likely sensitive value of these rows,
        ties at random. The baseline guess is then the most frequent sensitive value of all rows.
    adversary
        "nearest" for what is said above. "agreement" for the sensitive value of the released row that shares the rarest
        values: a known value that c of n released rows have counts ``-log((c + 1/2) / (n + 1))`` for each row that has
        it too, and the row with the highest sum is taken, ties at random. "counts" for the likeliest sensitive value by
        the released counts alone, quasi-identifiers treated as independent, numbers in 16 parts. "forest" and
        "boosting" for a learner that sees at most 50,000 released rows. Values that one released row has are learned by
        no person, and at most the 40 most frequent ones are. A number is learned in up to 40 classes.
    model
        Any object with ``fit(X, y)`` and ``predict(X)``; a copy of it learns, it stays as it is. ``X`` are the features
        of `unveil.attacks.table._features.features`, ``y`` floats for a number, else whole numbers that stand for the
        released values. A model that draws numbers must have its own seed for the answer to be the same again.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [25, 30, 40], "pay": [100, 200, 300]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [24, 31, 29], "pay": [105, 200, 900]}), name="released")
    >>> attack = Inference(secret="pay", known=("age",), targets=None)
    >>> trials = attack.run(released=released, knowledge=Knowledge(people), rng=np.random.default_rng(1))
    >>> trials.attack.chances  # age 30 is as near to 31 as to 29
    array([1. , 0.5, 0. ])
    """

    secret: str
    known: tuple[str, ...]
    neighbours: int = 1
    tolerance: float = 0.05
    targets: int | None = 500
    guess: Guess = "lot"
    adversary: _guessers.Adversary = "nearest"
    model: Any = None

    def __post_init__(self) -> None:
        known = _secrets.check_settings(self.secret, self.known, self.tolerance, self.targets)
        object.__setattr__(self, "known", known)
        whole_number(self.neighbours, "neighbours")
        if self.guess not in get_args(Guess):
            raise InputError(f"Unknown guess {self.guess!r}. Use 'lot' or 'class'")
        if self.adversary not in _guessers.ADVERSARIES:
            named = ", ".join(map(repr, _guessers.ADVERSARIES))
            raise InputError(f"Unknown attacker {self.adversary!r}. Use one of: {named}")
        if self.adversary != "nearest" and (self.neighbours, self.guess, self.model) != (1, "lot", None):
            raise InputError(
                f"neighbours, guess and model only apply to the attacker 'nearest', not to {self.adversary!r}. "
                "Leave them out"
            )
        lacking = [name for name in ("fit", "predict") if not callable(getattr(self.model, name, None))]
        if self.model is not None and (lacking or isinstance(self.model, type)):
            raise InputError(
                f"the model {_named(self.model)} lacks the methods fit and predict. "
                "Pass an object with both, not its class"
            )

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return success on people of the records, baseline, and control.

        The same ``rng`` and the same rows, in whatever order, give the same numbers. random guessing takes the
        sensitive value of any released row, drawn at random.

        Raises
        ------
        InputError
            If a column is missing from a table or of another kind in two of them, if everyone has the same sensitive
            value or none, if there are fewer released rows than neighbors, or if the model fails.
        """
        if self.neighbours > released.rows:
            raise InputError(
                f"neighbours is {self.neighbours}, but the {released.name} has {released.rows} rows. "
                f"Lower it to {released.rows} or less"
            )
        from unveil.data.table.encode import encode

        tables, end = _secrets.gathered(released, knowledge, self.known, self.secret)
        secrets = _secrets.read_secrets(tables[:end], self.secret, self.tolerance)
        encoded = encode(tables, self.known, span_of=(0, 1, *range(end, len(tables))))
        attacked, notes = [], []
        for table, truth, part in zip(
            (tables[0], *tables[2:end]), secrets.people, (encoded[0], *encoded[2:end]), strict=True
        ):
            notes += _secrets.notes_on_people(table, truth, self.secret, self.targets)
            if truth.rows.size:
                attacked.append(_Target(table, *_secrets.drawn(truth, part.grid(), self.targets, rng)))
        if self.model is not None:
            chances = self._by_model(secrets.released, tables[1], encoded[1].grid(), attacked)
        elif self.adversary == "nearest":
            chances = self._by_neighbours(secrets.released, encoded[1], attacked)
        else:
            chances = self._by_adversary(secrets.released, tables[1], encoded[1], attacked)
            notes += _guessers.notes_on_rows(self.adversary, released.rows)
        likeliest = self.guess == "class" or self.adversary not in _guessers.BY_ROWS
        inside = attacked[0].truth.rows.size
        control = Attempts.from_chances(chances[inside:], rows=attacked[1].truth.rows) if len(attacked) > 1 else None
        return Trials(
            attack=Attempts.from_chances(chances[:inside], rows=attacked[0].truth.rows),
            naive=Attempts.from_chances(
                _secrets.blind_chances(secrets.released, attacked[0].truth, likeliest=likeliest),
                rows=attacked[0].truth.rows,
            ),
            control=control,
            what=self._what(tables[0].column(self.secret).kind),
            notes=tuple(notes),
        )

    def _by_neighbours(self, secrets: ReleasedSecrets, released: "EncodedTable", attacked: list[_Target]) -> FloatArray:
        """Return everyone's chance by nearest rows, in one search."""
        targets, low, high = _together(attacked)
        if self.guess == "lot" and released.cells is None and secrets.draws is None:
            return right_chances(released, secrets.rank, targets, low, high, self.neighbours)
        around, boxes = _secrets.surroundings(released, targets)
        weight = np.zeros(around.copies.size) if boxes is None else boxes.log_weight
        likeliest = self.guess == "class"
        return guess_chances(around, weight, secrets, low, high, self.neighbours, likeliest=likeliest).chance

    def _by_adversary(
        self, secrets: ReleasedSecrets, released: "Table", known: "EncodedTable", attacked: list[_Target]
    ) -> FloatArray:
        """Return everyone's chance by an attacker trained on all rows."""
        if secrets.draws is not None:
            raise _several_values(f"the attacker {self.adversary!r}", self.secret, released, "Choose 'nearest'")
        targets, low, high = _together(attacked)
        near = _secrets.near_ranks(released, self.secret, self.tolerance)
        teacher = _guessers.Teacher(_guessers.single_cells(known), secrets, near)
        return _guessers.guess_chances(self.adversary, teacher, targets, RightRanks(secrets.rank, low, high))

    def _by_model(
        self, secrets: ReleasedSecrets, released: "Table", known: IntegerGrid, attacked: list[_Target]
    ) -> FloatArray:
        """Return 1 for each correct guess of the model, else 0."""
        import polars as pl

        if secrets.draws is not None:
            raise _several_values("a model", self.secret, released, "Leave the model out")
        rank = secrets.rank
        is_number = released.column(self.secret).kind == "number"
        # By content, so that a model which depends on the order of rows sees the same one always.
        order = np.argsort(content_rank(known._replace(numbers=np.column_stack([known.numbers, rank]))), kind="stable")
        train = order[rank[order] >= 0]
        true = released.series(self.secret).cast(pl.Float64).to_numpy() if is_number else rank
        rows, *people = features(known, [who.known for who in attacked])
        guess = _guesses(self.model, rows[train], true[train], np.concatenate(people))
        right = []
        for who, part in zip(attacked, np.split(guess, [len(people[0])])[: len(attacked)], strict=True):
            if is_number:
                numbers = who.table.series(self.secret).gather(who.truth.rows)
                right.append(_secrets.right_guesses(part, numbers, self.tolerance))
            else:
                right.append((part >= who.truth.low) & (part < who.truth.high) & (part == np.floor(part)))
        return np.concatenate(right).astype(np.float64)

    def _what(self, kind: str) -> str:
        known, right = ", ".join(self.known), _secrets.right_means(kind, self.tolerance)
        if self.adversary == "agreement":
            return f"{self.secret} of the released row that shares the rarest values of {known} is {right}"
        if self.adversary != "nearest":
            return f"{self.secret}, as {_guessers.NAMED[self.adversary]} it from {known}, is {right}"
        if self.model is None and self.guess == "class":
            rows = "rows" if self.neighbours == 1 else f"{self.neighbours} rows"
            return f"the most likely {self.secret} of the released {rows} that are nearest by {known} is {right}"
        if self.model is not None:
            return f"{self.secret}, as {_named(self.model)} guesses it from {known}, is {right}"
        if self.neighbours == 1:
            return f"{self.secret} of the released row that is nearest by {known} is {right}"
        return f"{self.secret} of one of the {self.neighbours} released rows that are nearest by {known} is {right}"


def _several_values(who: str, secret: str, released: "Table", instead: str) -> InputError:
    return InputError(
        f"{who} learns from single values, but column {secret!r} of the {released.name} has range cells. "
        f"{instead}, or name another sensitive attribute"
    )


def _together(attacked: list[_Target]) -> tuple[IntegerGrid, IntArray, IntArray]:
    """Return quasi-identifiers and correct ranks of all people attacked."""
    numbers, codes, low, high = (
        np.concatenate(parts)
        for parts in zip(*((*who.known[:2], who.truth.low, who.truth.high) for who in attacked), strict=True)
    )
    return attacked[0].known._replace(numbers=numbers, codes=codes), low, high


def _guesses(model: Model, known: FloatArray, secret: NDArray[Any], people: FloatArray) -> FloatArray:
    """Return the guesses of a copy of the model."""
    try:
        learner = deepcopy(model)
        learner.fit(known, secret)
        found = np.asarray(learner.predict(people)).astype(np.float64)
    except Exception as error:
        raise InputError(
            f"the model {_named(model)} raised {type(error).__name__} on {len(known)} released rows of "
            f"{known.shape[1]} features. It must predict a number for each target. Try it on numbers of that shape"
        ) from None
    if found.shape != (len(people),):
        raise InputError(
            f"the model {_named(model)} returned an array of shape {found.shape} for {len(people)} targets. "
            "Return a flat array with one number per target"
        )
    return found


def _named(model: object) -> str:
    return model.__name__ if isinstance(model, type) else type(model).__name__
