"""The site: built from a run, without a network, and looked at in a browser."""

import shutil

import pytest

from tests.browser import axe_findings, needs_browser, show
from tests.copies import ROOT
from workflow.scripts.common import InputError

mkdocs = pytest.importorskip("mkdocs", reason="needs `make setup EXTRAS=site`")

from tools import site as builder  # noqa: E402
from workflow.scripts.ranking.pages import leaderboard_page  # noqa: E402

# One page of each kind: Markdown, figures, a frame, tables, docstrings.
KINDS = ("index", "results", "explorer", "claims", "leaderboard", "api")


@pytest.fixture(scope="module")
def site(finished, tmp_path_factory):
    """The site of a run with a field, whose table is as wide as it gets."""
    run = tmp_path_factory.mktemp("run")
    for name in ("results", "figures"):
        shutil.copytree(finished.root / name, run / name)
    ranks = ("mean_rank", "regret", "wins")
    row = {f"{name}{end}": "1234.5" for name in ranks for end in ("", "_low", "_high")}
    row |= {"dataset": "games", "guarantee": "either", "output": "partial sequence"}
    row |= {"metric": "k_relative", "mechanism": "gaussian"}
    row |= dict.fromkeys(("sure_wins", "ties", "cells"), "1234")
    table = run / "field/results/leaderboard.html"
    table.parent.mkdir(parents=True)
    labels = {"gaussian": "Threshold Gaussian, c = 10"}
    table.write_text(leaderboard_page([row], {"games": "Games"}, labels), encoding="utf-8")
    table.with_suffix(".csv").touch()
    folder = run / "site"
    builder.build(run, folder)
    return folder


def text(site, page):
    return (site / f"{page}.html").read_text(encoding="utf-8")


def test_every_page_has_what_it_is_for(site):
    for name in builder.PAGES.values():
        assert (site / name.replace(".md", ".html")).is_file(), name
    for words in (
        "figures/figure-1-gaps-and-errors.png",
        'href="results/errors/games.csv"',
        "snakemake figures/datasets/games.png --cores 2",
        "Gaps between the largest counts",
    ):
        assert words in text(site, "results"), words
    for name in ("dp_topk.get", "dp_topk.release.top_k", "dp_topk.counting.count_users"):
        assert f'id="{name}"' in text(site, "api"), name
    assert "Guarantee: epsilon-DP" in text(site, "samplers")
    assert 'href="#word-improves"' in text(site, "claims")
    assert 'id="word-improves"' in text(site, "claims")


def test_a_run_that_is_not_the_papers_says_so(site):
    for page in ("index", "results", "explorer", "claims", "datasets"):
        assert "Joint, CDP-Peel on Games; ε = 0.01; 2 trials" in text(site, page), page
    shipped = builder.Plan(builder.read_yaml(ROOT / "config.yaml"), ROOT)
    assert builder.label(shipped) == ""


def test_the_leaderboard_is_that_of_the_field_or_the_published_one(site, tmp_path):
    assert "Threshold Gaussian, c = 10" in text(site, "leaderboard")
    assert 'href="field/results/leaderboard.csv"' in text(site, "leaderboard")
    published = builder.leaderboard(tmp_path, tmp_path)
    assert "make field" in published
    assert "| RDP-Peel |" in published


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        for start in ('src="http', 'src="//', 'rel="stylesheet" href="http', "@import"):
            assert start not in page, path


def test_a_broken_link_fails(finished, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n[nowhere](no-such-page.md)\n", encoding="utf-8")
    monkeypatch.setitem(builder.PAGES, str(page), "security.md")
    with pytest.raises(SystemExit):
        builder.build(finished.root, tmp_path / "site")


def test_a_folder_without_a_run_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="run `make figures` first"):
        builder.build(tmp_path, tmp_path / "site")


def test_texts_of_the_report_do_not_ask_for_the_config():
    """Snakemake knows only what was laid over config.yaml: what is asked for would be empty."""
    for path in (ROOT / "workflow/report").glob("*.rst"):
        assert "config[" not in path.read_text(encoding="utf-8"), path.name


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_every_page_fits_and_is_accessible(browser, site, width, dark):
    pages = sorted(site.glob("*.html"))
    assert {path.stem for path in pages} > {*KINDS}
    for path in pages:
        show(browser, path, width=width, dark=dark)
        scheme, wide = browser.execute_script(
            "return [getComputedStyle(document.body).colorScheme,"
            " document.documentElement.scrollWidth]"
        )
        assert scheme == ("dark" if dark else "light"), path.name
        assert wide <= width, path.name
        assert browser.get_log("browser") == [], path.name
        if path.stem in KINDS:
            assert axe_findings(browser) == [], path.name


@needs_browser
def test_the_explorer_changes_its_colours_with_the_site(browser, site):
    show(browser, site / "explorer.html")
    for title, paper in (("light", "255, 255, 255"), ("dark", "22, 24, 27")):
        browser.find_element("css selector", f"label[title='Switch to {title} mode']").click()
        browser.execute_async_script("setTimeout(arguments[0], 100)")
        browser.switch_to.frame(browser.find_element("css selector", "iframe.explorer"))
        script = "return getComputedStyle(document.body).backgroundColor"
        assert browser.execute_script(script) == f"rgb({paper})"
        browser.switch_to.default_content()
    browser.execute_script("localStorage.clear()")


@needs_browser
def test_the_search_works_from_a_folder(browser, site):
    show(browser, site / "index.html")
    field = browser.find_element("css selector", "input.md-search__input")
    field.click()
    field.send_keys("peeling")
    browser.implicitly_wait(10)
    assert browser.find_elements("css selector", ".md-search-result__link")
    browser.implicitly_wait(0)
