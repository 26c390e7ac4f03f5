"""Masking methods as sdcMicro calls or ARX models, where possible."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray
from unveil.errors import InputError, whole_number
from unveil.protections.specification import masking_from
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, recoded, small_groups
from unveil.protections.table._release import check_columns, masked_columns
from unveil.protections.table.additive_noise import AdditiveNoise
from unveil.protections.table.correlated_noise import CorrelatedNoise
from unveil.protections.table.microaggregation import Microaggregation
from unveil.protections.table.mondrian import Mondrian
from unveil.protections.table.rank_swapping import RankSwapping
from unveil.protections.table.univariate_microaggregation import UnivariateMicroaggregation

if TYPE_CHECKING:
    import polars as pl

_CALL = re.compile(r"\s*(?:(?:sdcmicro|arx)\s*::?\s*)?(?:new\s+)?(?P<name>\w+)\s*\((?P<inside>.*)\)\s*", re.I | re.S)
_BEGUN = re.compile(r"\s*(?:(?:sdcmicro|arx)\s*:|\w+\s*\()", re.I)
_K_ANONYMITY = re.compile(r"\s*(?:arx\s*::?\s*)?\(?(?P<k>\d+)\)?-anonymity\s*", re.I)
_PIECE = re.compile(r"""\s*(?:(?P<key>[\w.]+)\s*=\s*)?(?P<value>c\([^()]*\)|"[^"]*"|'[^']*'|[^,()"']*)\s*(?:,|$)""")

#: Methods of sdcMicro's microaggregation that make groups of all variables together; ``onedims`` makes them of each.
_JOINT = {"mdav", "rmd", "pca", "pppca", "clustpca", "clustpppca", "mcdpca", "clustmcdpca", "influence", "simple"}


class ParsedProtection(NamedTuple):
    """A parsed protection, and notes on how it was read."""

    protection: object
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecodedElsewhere:
    """Recoded classes of rows, as the file shows them; declared only.

    The true probability is even over the rows of a class. A row whose masked cells are all missing or ``*`` was
    suppressed, and need not have k like it.

    Parameters
    ----------
    columns
        The columns that were recoded; None for those with the role known, or all if none has it.
    k
        The least size of a class; None for any.
    """

    columns: tuple[str, ...] | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if self.k is not None:
            whole_number(self.k, "k", advice="Write the k of k-anonymity")

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        known = tuple(each.name for each in file.original.columns if each.role == "known")
        names = masked_columns(file.original, self.columns or known or None, Mondrian())
        shown = file.texts(names)
        gone = np.all([_suppressed(shown[name]) for name in names], axis=0)
        against = () if self.k is None else small_groups(file, names, self.k, leave_out=gone)
        return RecognizedMechanism((recoded(file, names),), against)


def _suppressed(cells: "pl.Series") -> BoolArray:
    """Return which cells show nothing."""
    import polars as pl

    empty = cells.is_null()
    return (empty | (cells == "*") if cells.dtype == pl.String else empty).fill_null(True).to_numpy()


def as_written(text: str) -> ParsedProtection:
    """Return the protection of a text: unveil, sdcMicro, or ARX.

    Understood of sdcMicro are ``addNoise(noise=20)``, ``addNoise(noise=20, method="correlated")``,
    ``microaggregation(aggr=5)`` and ``rankSwap(P=10, TopPercent=0, BottomPercent=0)``, with or without ``sdcMicro::``
    and ``variables=c("age", "income")``; of ARX ``KAnonymity(5)`` or ``5-Anonymity``. Of other calls it is said why
    they do not tell how likely each cell is.

    >>> as_written("sdcMicro::addNoise(noise = 20)").protection
    AdditiveNoise(columns=None, scale=0.2, shuffle=True)
    >>> as_written("ARX:KAnonymity(5)").protection
    RecodedElsewhere(columns=None, k=5)
    """
    model = _K_ANONYMITY.fullmatch(text)
    if model:
        return _k_anonymity({"0": model["k"]})
    call = _CALL.fullmatch(text)
    if call is None:
        if _BEGUN.match(text):
            raise InputError(
                f"the call {text!r} is not complete. Write a call of sdcMicro or ARX such as addNoise(noise=20), "
                "close its brackets, and quote it on the command line"
            )
        return ParsedProtection(masking_from(text))
    known = {name.lower(): read for name, read in _READERS.items()}
    read = known.get(call["name"].lower())
    if read is None:
        raise InputError(
            f"{call['name']}(...) cannot be mapped. Supported calls of sdcMicro and ARX: "
            f"{', '.join(_MAPPED)}. Or name a protection of unveil ('unveil list protections')"
        )
    return read(_arguments(call["inside"], call["name"]))


def _arguments(inside: str, name: str) -> dict[str, str]:
    """Return the arguments of a call by name or position.

    The object itself is left out.
    """
    found: dict[str, str] = {}
    place, at = 0, 0
    while at < len(inside) and inside[at:].strip():
        piece = _PIECE.match(inside, at)
        if piece is None:
            raise InputError(f"the arguments of {name} cannot be read. Write them as name=value, separated by commas")
        at = piece.end()
        key = piece["key"] or str(place)
        place += piece["key"] is None
        found[key] = piece["value"].strip()
    return found


def _number(arguments: Mapping[str, str], key: str, usual: float | None, call: str) -> float:
    if key not in arguments:
        if usual is None:
            raise InputError(f"{call} lacks {key}=, the amount of change. Write the value that was used")
        return usual
    try:
        return float(arguments[key])
    except ValueError as error:
        raise InputError(f"{key} of {call} is {arguments[key]!r}, not a number. Write the value used") from error


def _word(arguments: Mapping[str, str], key: str, usual: str) -> str:
    return arguments.get(key, usual).strip("\"'").lower()


def _variables(arguments: Mapping[str, str]) -> tuple[str, ...] | None:
    text = arguments.get("variables", "").strip()
    if not text or text == "NULL":
        return None
    inside = text[2:-1] if text.startswith("c(") else text
    return tuple(each.strip().strip("\"'") for each in inside.split(","))


def _cannot(call: str, why: str, instead: str) -> InputError:
    return InputError(f"{call} cannot be mapped: {why}. {instead}")


def _add_noise(arguments: Mapping[str, str]) -> ParsedProtection:
    method, columns = _word(arguments, "method", "additive"), _variables(arguments)
    noise = _number(arguments, "noise", 150, "addNoise")
    if method == "additive":
        return ParsedProtection(AdditiveNoise(columns=columns, scale=noise / 100))
    if method == "correlated":
        note = f"sdcMicro takes {noise:g} % of the covariances, which is {sqrt(noise / 100):.4g} of the spread"
        return ParsedProtection(CorrelatedNoise(columns=columns, scale=sqrt(noise / 100)), (note,))
    raise _cannot(
        f"addNoise with the method {method}",
        "the probability of each cell depends on more than its settings",
        "Supported methods: additive and correlated. Otherwise name no method; validity stays unknown",
    )


def _microaggregation(arguments: Mapping[str, str]) -> ParsedProtection:
    method, k = _word(arguments, "method", "mdav"), int(_number(arguments, "aggr", 3, "microaggregation"))
    columns, shows = _variables(arguments), _word(arguments, "measure", "mean")
    if method != "onedims" and method not in _JOINT:
        raise _cannot(
            f"microaggregation with the method {method}",
            "it is not known here which columns share their groups",
            f"Known are onedims, {', '.join(sorted(_JOINT))}",
        )
    note = ("the groups are read from the file, for every grouping method",)
    if method == "onedims":
        return ParsedProtection(UnivariateMicroaggregation(columns=columns, k=k), note)
    if shows == "mean":
        return ParsedProtection(Microaggregation(columns=columns, k=k), note)
    return ParsedProtection(RecodedElsewhere(columns=columns, k=k), note)


def _rank_swap(arguments: Mapping[str, str]) -> ParsedProtection:
    top, bottom = _number(arguments, "TopPercent", 5, "rankSwap"), _number(arguments, "BottomPercent", 5, "rankSwap")
    if top or bottom:
        raise _cannot(
            "rankSwap with TopPercent or BottomPercent above 0 (default: 5)",
            "the extreme values are replaced by one before ranks are swapped",
            "Set both to 0 when masking. Otherwise name no method; validity stays unknown",
        )
    if "P" not in arguments:
        raise _cannot(
            "rankSwap without P",
            "R0 and K0 derive a window from the data",
            "Write P=, the percentage of ranks, if that was used",
        )
    note = "within the window of P percent, unveil's distribution of partners is assumed"
    return ParsedProtection(
        RankSwapping(columns=_variables(arguments), p=_number(arguments, "P", None, "rankSwap")), (note,)
    )


def _pram(arguments: Mapping[str, str]) -> ParsedProtection:  # noqa: ARG001
    raise _cannot(
        "pram(pd=, alpha=)",
        "pd and alpha only bound a transition matrix, which sdcMicro draws at random and keeps in "
        "attr(x, 'pram_params')",
        "If the matrix keeps each value with one probability, declare pram:keep=0.8,invariant=no or pram:keep=0.8. The "
        "first redraws uniformly, the second by share. Otherwise name no method; validity stays unknown",
    )


def _k_anonymity(arguments: Mapping[str, str]) -> ParsedProtection:
    k = int(_number({"k": arguments.get("k", arguments.get("0", ""))}, "k", None, "KAnonymity"))
    note = "recodings are read from the file: k-anonymity by any repeatable generalization and suppression"
    return ParsedProtection(RecodedElsewhere(k=k), (note,))


def _drawn_model(arguments: Mapping[str, str]) -> ParsedProtection:  # noqa: ARG001
    raise _cannot(
        "EDDifferentialPrivacy",
        "it samples the rows, so the classes of the other rows are unknown",
        "Name no method; validity stays unknown",
    )


_READERS: dict[str, Callable[[Mapping[str, str]], ParsedProtection]] = {
    "addNoise": _add_noise,
    "microaggregation": _microaggregation,
    "rankSwap": _rank_swap,
    "pram": _pram,
    "KAnonymity": _k_anonymity,
    "EDDifferentialPrivacy": _drawn_model,
}
#: Those of them that can be mapped, with some settings at least; of the others it is said why not.
_MAPPED = tuple(name for name, read in _READERS.items() if read not in (_pram, _drawn_model))
