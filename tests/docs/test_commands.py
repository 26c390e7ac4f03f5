"""Every command that a page names is one that unveil takes: its options exist, and their values are possible."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from tests.docs.test_docs import FENCE, PAGES, ROOT, beside_the_examples, blocks  # noqa: F401 (a fixture)
from unveil.cli import COMMANDS, main
from unveil.questions import schema

#: Every page on which somebody may find a command to type.
ALL = [*PAGES, *(ROOT / name for name in ("SECURITY.md", "CONTRIBUTING.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in ALL]
#: A line of code that calls unveil, after a prompt, in a container, or indented; never a line of prose.
_LINE = re.compile(rf"^(?: {{4}}.*?|\$ |podman run .*?|)\bunveil +(?=(?:{'|'.join(COMMANDS)})\b)(.*)$", re.MULTILINE)
#: A command within a sentence, which may go on in the next line.
_INLINE = re.compile(r"(?<!`)`unveil ([^`]+)`(?!`)")
#: A call from R, written as its words.
_FROM_R = re.compile(r'system2\("unveil", c\(([^)]*)\)')
#: What stands for something left out, or for a choice of the reader.
_LEFT_OUT = {"...", "…"}


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of every call of unveil on a page."""
    whole = re.sub(r"\\\n\s*", "", text)
    code = [body for language, body in FENCE.findall(whole) if language not in ("python", "text", "toml")]
    prose = FENCE.sub("", whole)
    for written in (*code, prose):
        for found in _LINE.findall(written):
            # A sentence of a list may be indented as far as code; it is no command.
            if written is not prose or "`" not in found:
                yield _words(found)
    yield from (_words(" ".join(found.split())) for found in _INLINE.findall(prose))
    yield from (re.findall(r'"([^"]*)"', found) for found in _FROM_R.findall(whole))


def _words(written: str) -> list[str]:
    """Return what a shell would pass on, up to where another command begins."""
    lexer = shlex.shlex(written, posix=True, punctuation_chars=";|>")
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if set(word) <= set(";|>"):
            break
        words.append(word.replace("$limit", "linkability=0.1"))
    return [word.rstrip("….") if word.endswith("....") else word for word in words if word not in _LEFT_OUT]


def understood(words: list[str]) -> None:
    """Raise what the command line would say of a call, without running it."""
    try:
        context = main.make_context("unveil", list(words))
        command: click.Command = main
        while isinstance(command, click.Group) and words:
            _, found, words = command.resolve_command(context, words)
            assert found is not None
            command = found
        if not isinstance(command, click.Group):
            command.make_context(command.name, _without_placeholders(command, words), parent=context)
    except click.exceptions.Exit as ended:  # it asked for help
        assert ended.exit_code == 0  # noqa: PT017
    except click.MissingParameter:
        pass  # a sentence may leave out the rest; what it names was looked at before


def _without_placeholders(command: click.Command, words: list[str]) -> list[str]:
    """Return the words without options that have no value, or one such as ``N``, which stands for any."""
    takes = {option for each in command.params if not getattr(each, "is_flag", True) for option in each.opts}
    kept: list[str] = []
    for word, following in zip(words, [*words[1:], "N"], strict=False):
        if kept and kept[-1] == "" and word.isupper():
            continue
        kept.append("" if word in takes and following.isupper() else word)
    return [word for word in kept if word]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", ALL, ids=NAMES)
def test_every_command_of_a_page_is_understood(page: Path) -> None:
    wrong = []
    for words in commands(page.read_text(encoding="utf-8")):
        try:
            understood(words)
        except click.ClickException as error:
            wrong.append(f"unveil {shlex.join(words)}: {error.format_message()}")
    assert wrong == []


def test_a_command_is_found_wherever_it_stands_and_a_wrong_one_is_seen() -> None:
    text = """Say `unveil list
metrics`, or

    unveil audit a.csv b.csv  # as a line

```sh
podman run -v "$PWD:/data:Z" unveil \\
  columns a.csv; echo $?
unveil schema audit > audit.json
```

```r
system2("unveil", c("audit", "a.csv",
                    "--json"))
```
"""
    found = [["columns", "a.csv"], ["schema", "audit"], ["audit", "a.csv", "b.csv"], ["list", "metrics"]]
    assert list(commands(text)) == [*found, ["audit", "a.csv", "--json"]]
    assert sum(len(list(commands(page.read_text(encoding="utf-8")))) for page in ALL) > 200
    for words in (["audit", "--limits"], ["audit", "a.csv", "--release-type", "mask"], ["audits"]):
        with pytest.raises(click.ClickException):
            understood(words)


#: What a shell block names that lies in the project.
_OF_PROJECT = re.compile(r"(?<![\w/.])(?:studies|examples|tools|benchmarks|docs)/[\w./-]+\.(?:py|toml)\b")


@pytest.mark.parametrize("page", ALL, ids=NAMES)
def test_files_modules_and_targets_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in _OF_PROJECT.findall(text) if not (ROOT / name).exists()] == []
    modules = re.findall(r"python -m (benchmarks\.\w+)", text)
    assert [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").exists()] == []
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = [*re.findall(r"`make ([a-z]+)\b", text), *re.findall(r"^make ([a-z]+)\b", shell_of(page), re.MULTILINE)]
    assert set(asked) <= targets


def in_a_shell(script: str, folder: Path) -> list[str]:
    """Return the lines that a script prints in an empty folder beside the examples; its last command must succeed."""
    (folder / "examples").symlink_to(ROOT / "examples")
    path = os.pathsep.join([str(_programs(folder)), os.environ["PATH"]])
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _programs(folder: Path) -> Path:
    """Return a folder with ``unveil`` and ``python`` as this process would start them."""
    programs = folder / "programs"
    programs.mkdir()
    for name, words in (("python", ""), ("unveil", "-m unveil ")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return programs


def shell_of(page: Path) -> str:
    """Return all shell blocks of a page as one script."""
    return "".join(blocks(page.read_text(encoding="utf-8"), "sh"))


def test_the_example_of_a_pipeline_ends_as_it_says(tmp_path: Path) -> None:
    assert in_a_shell(shell_of(ROOT / "examples" / "pipelines" / "README.md"), tmp_path) == ["3", "0"]


def test_the_lines_for_a_shell_complete_commands(tmp_path: Path) -> None:
    bash, *others = [
        line for line in shell_of(ROOT / "docs" / "install.md").splitlines() if "_UNVEIL_COMPLETE=" in line
    ]
    assert in_a_shell(f"{bash}\ncomplete -p unveil", tmp_path) == ["complete -o nosort -F _unveil_completion unveil"]
    assert [re.findall(r"=(\w+)_source", line) for line in others] == [["zsh"], ["fish"]]


def test_the_yaml_of_a_page_names_what_the_action_and_the_hook_have() -> None:
    text = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
    workflow, hooks = map(yaml.safe_load, blocks(text, "yaml"))
    (step,) = [each for each in workflow["jobs"]["release"]["steps"] if "unveil" in each["uses"]]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(step["with"]) <= set(inputs)
    assert {name for name, each in inputs.items() if each.get("required")} <= set(step["with"])
    (hook,) = hooks["repos"][0]["hooks"]
    (offered,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == offered["id"]
    understood([*shlex.split(offered["entry"])[1:], *hook["args"]])
    for limit in step["with"]["limits"].split():
        understood(["audit", "people.csv", "masked.csv", "--limit", limit])


def test_every_other_yaml_and_toml_block_can_be_read() -> None:
    for page in ALL:
        text = page.read_text(encoding="utf-8")
        assert all(yaml.safe_load(body) for body in blocks(text, "yaml"))
        assert all(tomllib.loads(body) for body in blocks(text, "toml")), page


def test_the_fields_that_the_recipe_for_r_reads_are_in_the_schema() -> None:
    (recipe,) = blocks((ROOT / "docs" / "how-to" / "r.md").read_text(encoding="utf-8"), "r")
    whole = schema("audit")
    fields = whole["properties"] | {"releases": whole["definitions"]["release"]}
    read = re.findall(r"answer\$(\w+)(?:\$(\w+))?", recipe)
    assert read
    for name, below in read:
        assert name in whole["properties"]
        assert not below or below in fields[name]["properties"]
    attacks = fields["releases"]["properties"]["attacks"]["items"]["properties"]
    chosen = re.findall(r'"(\w+)"', recipe.partition("attacks[, c(")[2].partition(")")[0])
    assert {*chosen, *re.findall(r"^attacks\$(\w+)", recipe, re.MULTILINE)} <= set(attacks)
