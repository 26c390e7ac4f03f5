"""The pages for users stay short: each has a budget of words, and all of them together have one."""

import tomllib

import pytest

from tests.docs.test_docs import ROOT

#: The most words of each page for users, counted as `wc -w` does. Commands grow with the options.
BUDGETS = {
    "README.md": 300,
    "docs/install.md": 400,
    "docs/start/quickstart.md": 700,
    "docs/start/read-a-report.md": 1000,
    "docs/start/audit-a-synthesizer.md": 1000,
    "docs/start/audit-several-tables.md": 850,
    "docs/start/publish-tables.md": 900,
    "docs/start/attack-a-graph.md": 600,
    "docs/how-to/audit.md": 1500,
    "docs/how-to/control-group.md": 700,
    "docs/how-to/protect.md": 900,
    "docs/how-to/generators.md": 900,
    "docs/how-to/dp-audit.md": 700,
    "docs/how-to/published-tables.md": 1500,
    "docs/how-to/secondary-suppression.md": 600,
    "docs/how-to/graphs.md": 1500,
    "docs/how-to/link.md": 900,
    "docs/how-to/files.md": 1200,
    "docs/how-to/reports.md": 800,
    "docs/how-to/pipelines.md": 800,
    "docs/how-to/web-app.md": 500,
    "docs/how-to/scale.md": 900,
    "docs/how-to/r.md": 300,
    "docs/understand/threshold.md": 1500,
    "docs/understand/decision.md": 1500,
    "docs/understand/singling-out.md": 500,
    "docs/understand/linkability.md": 500,
    "docs/understand/inference.md": 500,
    "docs/understand/membership.md": 500,
    "docs/understand/copies.md": 500,
    "docs/understand/k-anonymity.md": 500,
    "docs/understand/utility.md": 500,
    "docs/understand/stability.md": 500,
    "docs/understand/limits.md": 500,
    "docs/understand/compare.md": 1200,
    "docs/understand/faq.md": 1000,
    "docs/reference/glossary.md": 1800,
    "docs/reference/commands.md": 2900,
    "docs/reference/metrics.md": 4100,
    "docs/reference/attacks.md": 1000,
    "docs/reference/protections.md": 900,
    "docs/reference/exit-codes.md": 110,
    "docs/reference/sample-reports.md": 200,
    "docs/reference/names.md": 1400,
}
ALL_TOGETHER = 40_000
WITHOUT_BUDGET = ("docs/research/", "docs/reference/json/", "docs/reference/python/")
MOVED = tomllib.loads((ROOT / "docs" / "site" / "moved.toml").read_text(encoding="utf-8"))


def words(page: str) -> int:
    """Return the number of words of a page."""
    return len((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", BUDGETS)
def test_a_page_keeps_its_budget(page: str) -> None:
    assert words(page) <= BUDGETS[page]


def test_the_pages_for_users_keep_their_budget() -> None:
    assert sum(map(words, BUDGETS)) <= ALL_TOGETHER


def test_every_page_for_users_has_a_budget() -> None:
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} | {"README.md"}
    assert {page for page in pages if not page.startswith(WITHOUT_BUDGET)} == {*BUDGETS}


def test_an_old_address_leads_to_a_page() -> None:
    assert [new for new in MOVED.values() if not (ROOT / "docs" / f"{new}.md").is_file()] == []
    assert [old for old in MOVED if (ROOT / "docs" / f"{old}.md").exists()] == []
