"""What a mechanism is submitted with: digests of its jobs in the field, some of them repeated."""

import pytest

from tools import submission
from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml


@pytest.fixture(scope="module")
def plan(finished):
    return Plan(read_yaml(finished.root / "results/config.yaml"), finished.root)


@pytest.fixture
def submitted(plan, finished, tmp_path):
    submission.submit(plan, "cdp_peel", finished.root, tmp_path)
    return tmp_path / "cdp_peel.sha256"


def test_jobs_give_the_bytes_that_they_gave_in_the_field(plan, submitted):
    lines = submitted.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(submission.jobs(plan, "cdp_peel")) > 1
    again = submission.repeat(plan, "cdp_peel", submitted.parent, sample=len(lines))
    assert again.keys() == {line.split()[1] for line in lines}
    assert all(again.values())


def test_only_some_jobs_are_repeated(plan, submitted):
    assert len(submission.repeat(plan, "cdp_peel", submitted.parent, sample=1)) == 1


def test_a_digest_of_anything_else_is_found_out(plan, submitted):
    digest, _, path = submitted.read_text(encoding="utf-8").splitlines()[0].partition("  ")
    text = submitted.read_text(encoding="utf-8").replace(digest, "0" * 64)
    submitted.write_text(text, encoding="utf-8")
    again = submission.repeat(plan, "cdp_peel", submitted.parent, sample=1000)
    assert [name for name, same in again.items() if not same] == [path]


def test_what_is_missing_is_named(plan, submitted, tmp_path):
    submitted.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cdp_peel\.sha256 does not list the jobs"):
        submission.repeat(plan, "cdp_peel", submitted.parent)
    with pytest.raises(InputError, match="no_such is not in workflow"):
        submission.submit(plan, "no_such", tmp_path, tmp_path)
    with pytest.raises(InputError, match="run `make field` first"):
        submission.submit(plan, "joint", tmp_path / "nothing", tmp_path)


def test_every_submission_is_one_of_the_field():
    """And the field itself can be planned."""
    names = {path.stem for path in submission.SUBMISSIONS.glob("*.sha256")}
    assert names <= set(submission.field()["mechanisms"])
