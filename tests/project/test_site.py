"""The site: built from a run, without a network, and looked at in a browser."""

import pytest

from tests.browser import axe_findings, needs_browser, opened, show

mkdocs = pytest.importorskip("mkdocs", reason="needs `make setup EXTRAS=site`")

from tools import site as builder  # noqa: E402


@pytest.fixture(scope="module")
def site(finished, tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    builder.build(finished.root, folder)
    return folder


def test_every_page_of_the_repository_is_there(site):
    for name in builder.PAGES.values():
        assert (site / name.replace(".md", ".html")).is_file(), name
    figures = (site / "results.html").read_text(encoding="utf-8")
    assert "figure-1-gaps-and-errors.png" in figures
    assert "results/errors.csv" in figures
    api = (site / "api.html").read_text(encoding="utf-8")
    for name in ("dp_topk.get", "dp_topk.release.top_k", "dp_topk.counting.count_users"):
        assert f'id="{name}"' in api, name


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for start in ('src="http', 'src="//', 'rel="stylesheet" href="http', "@import"):
            assert start not in text, path


def test_a_broken_link_fails(finished, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n[nowhere](no-such-page.md)\n", encoding="utf-8")
    monkeypatch.setitem(builder.PAGES, str(page), "security.md")
    with pytest.raises(SystemExit):
        builder.build(finished.root, tmp_path / "site")


def test_a_folder_without_a_run_is_a_sentence(tmp_path):
    with pytest.raises(builder.InputError, match="run `make figures` first"):
        builder.build(tmp_path, tmp_path / "site")


@needs_browser
def test_every_page_fits_and_is_accessible(site):
    """At two widths, light and dark, printed as on paper: no errors, no findings of axe."""
    pages = [path for path in sorted(site.glob("*.html")) if path.stem != "404"]
    with opened(pages[0]) as browser:
        for path in pages:
            for width, dark in ((1400, False), (390, True)):
                show(browser, path, width=width, dark=dark)
                wide = browser.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, path.name
                assert axe_findings(browser) == [], (path.name, width)
                assert browser.get_log("browser") == [], path.name


@needs_browser
def test_the_search_works_from_a_folder(site):
    with opened(site / "index.html") as browser:
        browser.find_element("css selector", "label[for=__search]")
        field = browser.find_element("css selector", "input.md-search__input")
        field.click()
        field.send_keys("peeling")
        browser.implicitly_wait(10)
        assert browser.find_elements("css selector", ".md-search-result__link")
