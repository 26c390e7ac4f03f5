"""The release workflow tries every supported Python, and only commands that exist."""

import tomllib

import yaml

from tests.docs.test_commands import commands, understood
from tests.docs.test_docs import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_workflow_tries_every_supported_python() -> None:
    named = {each.rpartition(" :: ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each}
    assert set(WORKFLOW["jobs"]["smoke"]["strategy"]["matrix"]["python"]) == named


def test_the_commands_of_the_workflow_exist() -> None:
    scripts = [step["run"] for step in WORKFLOW["jobs"]["smoke"]["steps"] if "unveil " in step.get("run", "")]
    words = [each for script in scripts for each in commands(f"```sh\n{script}```\n")]
    assert len(words) >= 5
    for each in words:
        understood(each)


def test_only_a_tag_is_published_and_only_after_the_smoke_tests() -> None:
    publish = WORKFLOW["jobs"]["publish"]
    assert publish["needs"] == "smoke"
    assert "refs/tags/v" in publish["if"]
    assert [name for name, job in WORKFLOW["jobs"].items() if "permissions" in job] == ["publish"]


def test_the_citation_names_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
