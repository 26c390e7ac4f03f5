"""Texts for users hold to the terms of the field (terms.toml), and sentences stay short."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
TERMS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "terms.toml").read_text(encoding="utf-8"))
#: The fewest words of a string literal that is read by users, and the most of a sentence.
FEWEST, LONGEST = 4, 30
#: Where sentences are held to their length.
SHORT = ("README.md", "src/")
#: What readers do not read as words: code, addresses, tags, options, names in code, and what is filled in.
NO_WORDS = re.compile(
    r"<!--.*?-->|``.*?``|`[^`]*`|https?://\S+|</?[a-z][^<>]*>|\{\{.*?\}\}|\{%.*?%\}|\{[^{}]*\}|--[\w-]+"
    r"|_\w+|\w+(?:[._=]\w+)*[_=][\w.]*|[A-Za-z]\w*\.\w[\w.]*|(?<=\])\([^)]*\)|'\w+'",
    re.DOTALL,
)
_WORD = re.compile(r"[\w'’%.,/-]*[A-Za-z][\w'’%]*")
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n\s*(?=[-*+] |\d+[.)] |#)|(?<!\\)\|")


class Text(NamedTuple):
    """A piece of text that a user reads, and its place."""

    file: str
    line: int
    words: str


class Avoided(NamedTuple):
    """A pattern to avoid, the term to write instead, and a literal that every match has."""

    write: str
    regex: re.Pattern[str]
    literal: str
    only_in: tuple[str, ...] = ()


def _literal(pattern: str) -> str:
    """Return the longest literal of a pattern, which is looked for first because that is quick."""
    bare = re.sub(r"\(\?[!<=].*?\)|\(.*?\)[?*]?|\[.*?\][+*?]?|\{.*?\}|\\[a-z][+*?]?|.\?", "\0", pattern)
    return max(bare.lower().replace("\\", "").split("\0"), key=len)


@cache
def avoided() -> tuple[Avoided, ...]:
    """Return all patterns of the file of terms."""
    tables = [(TERMS["terms"], ()), (TERMS["spelling"], ())]
    tables += [(terms, tuple(words.split())) for words, terms in TERMS["only_in"].items()]
    return tuple(
        Avoided(write, re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE), _literal(pattern), only_in)
        for terms, only_in in tables
        for write, patterns in terms.items()
        for pattern in patterns
    )


def words_of(text: str) -> str:
    """Return a text without what is not read as words."""
    return re.sub(r"[*_#>]+", " ", NO_WORDS.sub(" ", text))


def markdown(file: str, text: str) -> Iterator[Text]:
    """Yield paragraphs, list items, headings and table cells."""
    text = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    at = 0
    for end in [*(match.span() for match in _BLOCK.finditer(text)), (len(text), len(text))]:
        yield Text(file, text.count("\n", 0, at) + 1, words_of(text[at : end[0]]))
        at = end[1]


def python(file: str, text: str) -> Iterator[Text]:
    """Yield string literals of some words, and the first lines of docstrings."""
    tree, skip = ast.parse(text), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                skip.add(id(first.value))
                if isinstance(first.value.value, str):
                    yield Text(file, first.lineno, words_of(first.value.value.strip().partition("\n")[0]))
        if id(node) in skip:
            continue
        if isinstance(node, ast.JoinedStr):
            skip.update(id(part) for part in node.values)
            found = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        else:
            continue
        lines = [line for line in found.splitlines() if not re.match(r"\s*unveil [a-z]", line)]
        words = words_of("\n".join(lines))
        if (
            len(re.findall(r"[A-Za-z]{2,}", words)) >= FEWEST
            and "://" not in found
            and not re.search(r"\\b|\(\?", found)
        ):
            yield Text(file, node.lineno, words)


def page(file: str, text: str) -> Iterator[Text]:
    """Yield the visible text of a template, or the literals of a script."""
    if file.endswith(".js"):
        literals = re.finditer(r"""(["'`])((?:(?!\1).){8,})\1""", text)
        found = (
            (match.start(), match[2])
            for match in literals
            if len(match[2].split()) >= FEWEST and match[2][0] not in ".#"  # no selectors
        )
    else:
        text = re.sub(
            r"(?s)<(script|style).*?</\1>|\{#.*?#\}|<[^<>]*>|\{[{%].*?[%}]\}",
            lambda match: "\n" * match[0].count("\n"),
            text,
        )
        found = ((match.start(), match[0]) for match in re.finditer(r"[^<>]{8,}", text))
    for at, words in found:
        yield Text(file, text.count("\n", 0, at) + 1, words_of(words))


@cache
def texts() -> tuple[Text, ...]:
    """Return every text for users, except that of places not held to the terms yet."""
    found: list[Text] = []
    source = ROOT / "src" / "unveil"
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/README.md")]
    files += [path for ending in ("py", "html", "j2", "js") for path in source.rglob(f"*.{ending}")]
    for path in sorted(files):
        file, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if not file.startswith(tuple(TERMS["exempt"])):
            if path.name == "CHANGELOG.md":
                text = "## ".join(text.split("\n## ")[:2])
            found += (python if path.suffix == ".py" else markdown if path.suffix == ".md" else page)(file, text)
    return tuple(found)


def hits(found: tuple[Text, ...]) -> list[str]:
    """Return the places that hold a word to avoid, with the term to write."""
    listed = []
    for text in found:
        lowered = text.words.lower()
        for term in avoided():
            if term.literal in lowered and (not term.only_in or any(word in text.file for word in term.only_in)):
                listed += [
                    f"{text.file}:{text.line}: {m[0]!r}: write {term.write}" for m in term.regex.finditer(lowered)
                ]
    return listed


def test_texts_for_users_hold_to_the_terms() -> None:
    found = hits(texts())
    left = [each for each in found if not any(re.search(known, each) for known in TERMS["exceptions"])]
    assert not left, "\n".join(left)
    unused = [known for known in TERMS["exceptions"] if not any(re.search(known, each) for each in found)]
    assert not unused, f"these exceptions are not needed any more: {unused}"


def sentences(words: str) -> Iterator[str]:
    """Yield the sentences of a text; lists of words, such as names of columns in six languages, have few articles."""
    for sentence in re.split(r"(?<=[.!?:])[\"')\]]*\s+(?=[A-Z\"'(])| · ", words):
        if 15 * len(re.findall(r"\b(?:an?|the|of|is|are|to)\b", sentence)) > len(sentence.split()):
            yield " ".join(sentence.split())


def test_sentences_are_short() -> None:
    held = (text for text in texts() if text.file.startswith(SHORT))
    found = [(text, each) for text in held for each in sentences(text.words)]
    long = [f"{text.file}:{text.line}: {each}" for text, each in found if len(_WORD.findall(each)) > LONGEST]
    assert not long, "\n".join(long)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nobody says so.", 2),
        ("The attacker re-identifies 3 records.", 0),
        ("Its `nobody` is {nobody}.", 0),
        ("Colour", 1),
    ],
)
def test_words_to_avoid_are_found(text: str, said: int) -> None:
    assert len(hits((Text("a.py", 1, words_of(text)),))) == said
