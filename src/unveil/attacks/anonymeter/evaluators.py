"""anonymeter's own classes, names and numbers: what was written for anonymeter 1.1.0 runs with another import.

Numbers are those of the package, its defects included; docs/anonymeter.md has a list of them. The attacks of
:mod:`unveil.attacks` have none of these, and are what to move on to.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isinf
from sys import maxsize
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from unveil._kernels.anonymeter.rates import residual, success
from unveil.attacks.anonymeter.inference import AnonymeterInference
from unveil.attacks.anonymeter.linkability import AnonymeterLinkability, _as_polars
from unveil.attacks.anonymeter.singling_out import AnonymeterSinglingOut
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, column_names, share, whole_number
from unveil.guesses.trials import Trials

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.kinds import Kind


class PrivacyRisk(NamedTuple):
    """A risk and its interval, cut off at 0 and 1."""

    value: float
    ci: tuple[float, float]


class EvaluationResults:
    """Rates of the attack, the baseline and the control: each the middle of Wilson's interval, and half its width.

    Attributes
    ----------
    attack_rate, baseline_rate, control_rate
        Each has ``value`` and ``error``; ``control_rate`` is None without a control.
    n_success, n_baseline, n_control
        The hits behind them. Those of the baseline need not be whole in linkability, where they are what the package
        finds on average, nor those of the control in singling out, where the package multiplies them.
    """

    def __init__(self, trials: Trials, confidence_level: float = 0.95) -> None:
        share(confidence_level, "confidence_level", zero=False, one=False)
        outside = trials.control
        self.attack_rate = success(trials.attack.expected, trials.attack.tries, confidence_level)
        self.baseline_rate = success(trials.naive.expected, trials.naive.tries, confidence_level)
        self.control_rate = None if outside is None else success(outside.expected, outside.tries, confidence_level)
        self.n_success, self.n_baseline = trials.attack.expected, trials.naive.expected
        self.n_control = None if outside is None else outside.expected
        if self.baseline_rate.value >= self.attack_rate.value:
            warnings.warn(
                f"the attack is right in {self.attack_rate.value:.4f} of its tries and a blind guess in "
                f"{self.baseline_rate.value:.4f}: it was too weak to show anything. Attack with other columns",
                stacklevel=3,
            )

    def risk(self, baseline: bool = False) -> PrivacyRisk:
        """Return the rate beyond that of the control, as a share of what that leaves; without a control the rate."""
        found = self.baseline_rate if baseline else self.attack_rate
        if self.control_rate is not None and not baseline:
            found = residual(found, self.control_rate)
        value, low, high = found.bounded()
        return PrivacyRisk(value, (low, high))


class _Evaluator:
    """What the three have in common: results and risk of the trials that ``evaluate`` leaves."""

    _trials: Trials | None = None

    def results(self, confidence_level: float = 0.95) -> EvaluationResults:
        """Return the rates, after ``evaluate()``."""
        return EvaluationResults(self._evaluated, confidence_level)

    def risk(self, confidence_level: float = 0.95, baseline: bool = False) -> PrivacyRisk:
        """Return the risk and its interval, after ``evaluate()``; with ``baseline`` that of a blind guess."""
        return self.results(confidence_level).risk(baseline)

    @property
    def _evaluated(self) -> Trials:
        if self._trials is None:
            raise InputError("there are no results before the attack was run. Call evaluate() first")
        return self._trials


class LinkabilityEvaluator(_Evaluator):
    """Can two halves of what is known about a person be linked? As anonymeter's class of this name.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    aux_cols
        Two lists of columns.
    n_attacks
        How many people to attack; None attacks all. Where there are fewer, all are attacked (the package stops).
    n_neighbors
        How many nearest synthetic rows of each half are compared.

    Examples
    --------
    >>> import polars as pl
    >>> ori = pl.DataFrame({"age": [25, 30, 28], "income": [50, 60, 55]})
    >>> syn = pl.DataFrame({"age": [24, 31, 29], "income": [52, 62, 53]})
    >>> evaluator = LinkabilityEvaluator(ori, syn, (["age"], ["income"]), n_attacks=3, n_neighbors=1).evaluate()
    >>> evaluator.results().n_success, round(evaluator.risk().value, 3)
    (2.0, 0.573)
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        aux_cols: tuple[Sequence[str], Sequence[str]],
        n_attacks: int | None = 500,
        n_neighbors: int = 1,
        control: Any = None,
    ) -> None:
        if isinstance(aux_cols, str | Mapping) or len(aux_cols) != 2 or any(isinstance(one, str) for one in aux_cols):
            raise InputError("aux_cols must be two lists of columns. Write (['age', 'sex'], ['income'])")
        first, second = (column_names(tuple(names), "aux_cols") for names in aux_cols)
        self._attack = AnonymeterLinkability(first=first, second=second, neighbours=n_neighbors, targets=n_attacks)
        self._frames = _frames(syn, ori, control, [*first, *second])

    def evaluate(self, n_jobs: int = -2) -> Self:  # noqa: ARG002
        """Run the attack on targets from numpy's global generator, as the package; the number of jobs is not used."""
        draw = _global_generator()
        self._begin = draw.get_state()
        self._trials = self._attack.run_on(self._frames, draw)
        np.random.set_state(draw.get_state())  # noqa: NPY002
        return self

    def results(self, confidence_level: float = 0.95, n_neighbors: int | None = None) -> EvaluationResults:
        """Return the rates, after ``evaluate()``; with ``n_neighbors`` the same people's with fewer neighbours."""
        trials = self._evaluated
        if n_neighbors is not None:
            whole_number(n_neighbors, "n_neighbors", at_most=self._attack.neighbours)
            same = np.random.RandomState()
            same.set_state(self._begin)
            trials = replace(self._attack, neighbours=n_neighbors).run_on(self._frames, same)
        return EvaluationResults(trials, confidence_level)

    def risk(
        self, confidence_level: float = 0.95, baseline: bool = False, n_neighbors: int | None = None
    ) -> PrivacyRisk:
        """Return the risk and its interval, after ``evaluate()``; with ``baseline`` that of a blind guess."""
        return self.results(confidence_level, n_neighbors).risk(baseline)


class InferenceEvaluator(_Evaluator):
    """Can a secret be guessed from the nearest synthetic row? As anonymeter's class of this name.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    aux_cols, secret
        The columns that are known, and the one that is guessed.
    regression
        Whether the secret is judged as a number, within 5 % of the guess; None by its type.
    n_attacks
        How many people to attack, or infinity for all.
    inference_model
        Not supported: :class:`unveil.attacks.Inference` takes a model.

    Examples
    --------
    >>> import polars as pl
    >>> ori = pl.DataFrame({"age": [30, 40, 50], "pay": [500, 20, 70]})
    >>> syn = ori[[2, 0, 1]]
    >>> InferenceEvaluator(ori, syn, ["age"], "pay", n_attacks=3).evaluate().results().n_success
    3.0
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        aux_cols: Sequence[str],
        secret: str,
        regression: bool | None = False,
        n_attacks: float = 500,
        control: Any = None,
        inference_model: Any = None,
    ) -> None:
        if inference_model is not None:
            raise InputError(
                "inference_model must be left out, because the package wants it fitted beforehand. Pass a model that "
                "is not fitted to unveil.attacks.Inference(model=…)"
            )
        targets: Any = None if isinstance(n_attacks, float) and isinf(n_attacks) else n_attacks
        self._attack = AnonymeterInference(secret=secret, known=tuple(aux_cols), regression=regression, targets=targets)
        self._frames = _frames(syn, ori, control, [*self._attack.known, secret])

    def evaluate(self, n_jobs: int = -2) -> Self:  # noqa: ARG002
        """Run the attack on targets from numpy's global generator, as the package; the number of jobs is not used."""
        draw = _global_generator()
        self._trials, _ = self._attack.run_on(self._frames, draw)
        np.random.set_state(draw.get_state())  # noqa: NPY002
        return self


class SinglingOutEvaluator(_Evaluator):
    """Can a description that fits one synthetic row fit one person? As anonymeter's class of this name.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    n_attacks, n_cols
        How many guesses to make, and about how many columns each is.
    max_attempts
        How many guesses about several columns are tried at most; None for no limit.
    seed
        Decides the guesses about several columns; None draws them anew each time.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 93, 93], "town": ["Ulm", "Bonn", "Bonn", "Bonn"]})
    >>> SinglingOutEvaluator(people, people, n_attacks=10, seed=1).evaluate(mode="univariate").results().n_success
    6.0
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        n_attacks: int = 500,
        n_cols: int = 3,
        control: Any = None,
        max_attempts: int | None = 10_000_000,
        seed: int | None = None,
    ) -> None:
        attempts = maxsize if max_attempts is None else max_attempts
        self._attack = AnonymeterSinglingOut(size=n_cols, guesses=n_attacks, attempts=attempts, seed=seed)
        self._released = _table(syn, "synthetic table")
        self._knowledge = Knowledge(_table(ori, "original"), None if control is None else _table(control, "control"))

    def evaluate(self, mode: str = "multivariate") -> Self:
        """Make guesses about several columns, or with ``mode="univariate"`` about one, and count whom they fit."""
        if mode not in ("multivariate", "univariate"):
            raise InputError(f"mode must be 'multivariate' or 'univariate', but is {mode!r}. Write one of them")
        attack = replace(self._attack, size=1) if mode == "univariate" else self._attack
        rng = np.random.default_rng(attack.seed)
        self._trials = attack.run(released=self._released, knowledge=self._knowledge, rng=rng)
        return self


def _global_generator() -> np.random.RandomState:
    """Return a generator in the state of numpy's global one, which is what the package draws from.

    After ``numpy.random.seed(seed)`` the targets are those of the package.
    """
    draw = np.random.RandomState()
    draw.set_state(np.random.get_state())  # noqa: NPY002
    return draw


def _frames(syn: Any, ori: Any, control: Any, columns: list[str]) -> "list[pl.DataFrame]":
    named = [(syn, "synthetic"), (ori, "original"), (control, "control")]
    return [_as_polars(frame, columns, what) for frame, what in named[: 2 if control is None else 3]]


def _table(frame: Any, name: str) -> Table:
    """Return the frame with the kinds that the package sees: what is stored as a number is one, and nothing else."""
    from unveil.data.table.native import series_of

    kinds: dict[str, Kind] = {
        series.name: "number" if series.dtype.is_numeric() else "category"
        for series, _ in series_of(frame, table=name)
        if not series.dtype.is_temporal() and series.dtype != bool
    }
    return Table.from_frame(frame, name=name, kinds=kinds)
