"""Learn the weights of columns on other people, whose records the attacker can link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.attacks.link._profiles import Profiles, profiles_of
from unveil.attacks.link._training import ROUNDS, PeriodPair, train
from unveil.attacks.link.score import ScoreModel
from unveil.data.histories import History
from unveil.errors import InputError, share

#: Others that each true partner is compared with: those with the highest scores, and some at random.
_HARDEST, _AT_RANDOM = 15, 15
_RIDGE = 3.0
#: People that teach little: with fewer, the weights stay near those without truth.
_FEWEST_PARTNERS = 5
#: People that are enough to learn from.
_MOST_PEOPLE = 2_000


@dataclass(frozen=True, eq=False)
class PeopleSplit:
    """A history divided by people: some teach the attacker, the rest is attacked."""

    known: History
    attacked: History


def split_people(history: History, known: float = 0.5, *, rng: np.random.Generator) -> PeopleSplit:
    """Return the people that teach and the people that are attacked, drawn at random."""
    share(known, "known", zero=False, one=False)
    order = rng.permutation(history.people)
    size = round(known * history.people)
    if not 2 <= size <= history.people - 2:
        raise InputError(f"There are {history.people} people, too few to divide. Learn without truth")
    return PeopleSplit(history.of_people(order[:size]), history.of_people(order[size:]))


def learned_weights(
    knowledge: History, *, overlap: float | None = None, rounds: int = ROUNDS, rng: np.random.Generator
) -> dict[str, float]:
    """Return a weight for each part of the score, by its name.

    A conditional logit of the true partner against hard and random wrong ones, with a ridge towards the weight without
    truth, so that few people do no harm.
    """
    if knowledge.people > _MOST_PEOPLE:
        knowledge = knowledge.of_people(rng.choice(knowledge.people, _MOST_PEOPLE, replace=False))
    released = knowledge.released
    profiles = profiles_of(released)
    waves = [released.items_of(period) for period in range(len(released.periods))]
    pairs = [PeriodPair(one, other) for one, other in pairwise(waves)]
    if not pairs or not released.separate:
        raise InputError("The known people have no two periods to learn from. Pass a history with periods")
    model = train(profiles, pairs, share=overlap or 1.0, rounds=rounds, rng=rng).model
    choices = [
        choice
        for period, pair in enumerate(pairs)
        for choice in _choices(model, profiles, pair, knowledge.partners(period, period + 1), rng)
    ]
    prior = np.full(len(profiles.names), model.temperature)
    weights = _conditional_logit(choices, prior) if len(choices) >= _FEWEST_PARTNERS else prior
    return dict(zip(profiles.names, weights.tolist(), strict=True))


def weighted(model: ScoreModel, names: Sequence[str], weights: dict[str, float]) -> ScoreModel:
    """Return the model with learned weights; parts that are new keep the temperature."""
    factors = np.array([weights.get(name, model.temperature) for name in names])
    return replace(model, temperature=1.0, weights=factors)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Scores by part of a true partner (first row) and of wrong ones, and log of how many each stands for."""

    parts: FloatArray
    offset: FloatArray


def _choices(
    model: ScoreModel,
    profiles: Profiles,
    pair: PeriodPair,
    partners: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    rng: np.random.Generator,
) -> list[_Choice]:
    parts = model.each(profiles.take(pair.ones), profiles.take(pair.others))
    total = model.weighted(parts)
    stacked = np.stack(parts, axis=-1)
    count = pair.others.size
    found = []
    for column in np.flatnonzero(partners >= 0):
        row = partners[column]
        order = np.argsort(-total[row], kind="stable")
        order = order[order != column]
        hardest, rest = order[:_HARDEST], order[_HARDEST:]
        drawn = rng.choice(rest, min(_AT_RANDOM, rest.size), replace=False)
        stands_for = np.log(max(1, count - 1 - hardest.size) / max(1, drawn.size))
        offset = np.concatenate([np.zeros(1 + hardest.size), np.full(drawn.size, stands_for)])
        found.append(_Choice(stacked[row, np.concatenate([[column], hardest, drawn])], offset))
    return found


def _conditional_logit(choices: list[_Choice], prior: FloatArray) -> FloatArray:
    """Return the weights with the highest penalized likelihood of the true partners."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    size = np.array([each.offset.size for each in choices])
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    parts, offset = np.concatenate([each.parts for each in choices]), np.concatenate([each.offset for each in choices])
    largest = int(size.max())
    padded = np.full((len(choices), largest, prior.size), 0.0)
    logs = np.full((len(choices), largest), -np.inf)
    place = np.arange(offset.size) - np.repeat(start, size)
    owner = np.repeat(np.arange(size.size), size)
    padded[owner, place], logs[owner, place] = parts, offset

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        score = padded @ weights + logs
        total = logsumexp(score, axis=1, keepdims=True)
        chance = np.exp(score - total)
        slope = (chance[..., None] * padded).sum(axis=(0, 1)) - padded[:, 0].sum(axis=0)
        value = float((total[:, 0] - score[:, 0]).sum() + _RIDGE * ((weights - prior) ** 2).sum())
        return value, slope + 2 * _RIDGE * (weights - prior)

    return np.asarray(minimize(loss, prior, jac=True, method="BFGS").x, np.float64)
