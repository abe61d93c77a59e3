"""The written site: every link leads somewhere in the folder, nothing is fetched from outside, nothing is broken."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from report_help import NASTY, channels, fill, row, suite

from triathlon.cli import report as command
from triathlon.errors import UsageError
from triathlon.harness import load
from triathlon.harness.case import Suite
from triathlon.population.measures import Measures
from triathlon.population.read import population
from triathlon.report.data import Report, report
from triathlon.report.site import write_site
from triathlon.report.site.build import ASSETS, MADE_BY_SCRIPT, STATIC
from triathlon.report.site.chart import Point, scatter
from triathlon.report.site.html import Markup, tag
from triathlon.store import Store

VOID = {"meta", "link", "br", "img", "input"}


class Reader(HTMLParser):
    """Keeps elements and addresses, and complains about tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def addresses(self) -> list[str]:
        return [value for _, found in self.seen for name in ("href", "src") if (value := found.get(name))]


@pytest.fixture(scope="module")
def site(whole: Report, store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(whole, store, tmp_path_factory.mktemp("out") / "site").parent


def calls(path: Path, name: str) -> list[object]:
    text = path.read_text("ascii").strip()
    assert text.startswith(f"{name}(") and text.endswith(");")
    return list(json.loads(f"[{text[len(name) + 1 : -2]}]"))


@pytest.mark.parametrize("name", [*STATIC, *MADE_BY_SCRIPT])
def test_pages_are_well_formed_and_every_link_leads_somewhere(site: Path, name: str) -> None:
    read = Reader((site / name).read_text())
    (data,) = calls(site / "data/site.js", "TRIATHLON.site")
    assert isinstance(data, dict)
    slugs = {c["slug"] for c in data["candidates"]}
    ids = {c["id"] for c in (*data["cases"], *data["controls"])}
    assert len(read.addresses()) > 10
    for address in read.addresses():
        if address == "data:,":
            continue
        parts = urlsplit(address)
        assert not parts.scheme and not parts.netloc, address
        assert not parts.path or (site / parts.path).is_file(), address
        fragment = unquote(parts.fragment)
        if parts.path == "candidate.html":
            assert fragment in slugs
        elif parts.path == "case.html":
            assert fragment in ids


def test_nothing_in_the_folder_names_an_address_outside(site: Path) -> None:
    for path in (site / name for name in (*STATIC, *MADE_BY_SCRIPT, *ASSETS)):
        assert not re.search(r"(https?:)?//[a-z]", re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)), path.name


@pytest.mark.parametrize("name", [*STATIC, *MADE_BY_SCRIPT])
def test_pages_can_be_read_without_seeing_them(site: Path, name: str) -> None:
    read = Reader((site / name).read_text())
    names = [tag for tag, _ in read.seen]
    assert dict(read.seen)["html"]["lang"] == "en"
    assert [names.count(tag) for tag in ("h1", "main", "nav", "footer", "title")][:4] == [1, 1, 1, 1]
    assert any(found.get("href") == "#main" for _, found in read.seen)
    assert names.count("table") == names.count("caption")
    assert all(found.get("scope") for tag, found in read.seen if tag == "th")
    assert all(found.get("aria-label") for tag, found in read.seen if tag == "svg")
    assert len({found["id"] for _, found in read.seen if "id" in found}) == sum("id" in f for _, f in read.seen)


def test_a_candidates_words_never_become_markup(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "Astra &lt;1&gt;" in text and "Astra <1>" not in text
    for path in site.rglob("*.js"):
        if path.name not in ASSETS:
            assert "<" not in path.read_text("ascii"), path
    for name in ASSETS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", (site / name).read_text()
        )
    assert tag("a", '<b>"', href='"x') == '<a href="&quot;x">&lt;b&gt;&quot;</a>'
    assert tag("a", Markup("<b></b>"), hidden=False, open=True) == "<a open><b></b></a>"


def test_the_ranking_is_in_the_page_itself(site: Path, whole: Report) -> None:
    text = (site / "index.html").read_text()
    body = text[text.index("<tbody>") : text.index("</tbody>")]
    at = [body.index(f">{row['model'].replace('|', '|')}<") for row in whole.data["models"]]
    assert at == sorted(at)
    rate = whole.data["models"][0]
    assert f"{100 * rate['rate']:.2f} ± {100 * rate['sd']:.2f}" in body


def test_a_cases_file_holds_story_reasons_and_the_channels_as_they_were(site: Path, cases: Suite) -> None:
    name, number, rows, head = calls(site / "evidence/g0--c0.0.js", "TRIATHLON.case")
    assert (name, number) == ("g0/c0", 0)
    assert isinstance(rows, list) and isinstance(head, dict)
    assert "Must be seen:" in head["story"] and str(cases.root) not in head["story"]
    assert len(rows) == 4
    opened = {n: zlib.decompress(base64.b64decode(body)) for n, body in rows[0]["channels"].items()}
    assert opened == channels()
    failed = next(row for row in rows if row["findings"])
    assert NASTY in failed["findings"][0]["saw"] and failed["reasons"]


def test_every_case_and_control_has_its_file(site: Path, cases: Suite) -> None:
    (data,) = calls(site / "data/site.js", "TRIATHLON.site")
    assert isinstance(data, dict)
    for item in (*data["cases"], *data["controls"]):
        assert (site / "evidence" / f"{item['file']}.0.js").is_file()
        assert len(item["verdicts"]) == 4
    assert len(data["cases"]) == len(cases.cases) and len(data["controls"]) == len(cases.controls)


def test_every_candidate_has_its_file_and_downloads_are_whole(site: Path, whole: Report) -> None:
    for facts, verdicts in zip(whole.data["candidates"], whole.population.verdicts, strict=True):
        slug, data = calls(site / f"evidence/candidates/{facts['slug']}.js", "TRIATHLON.candidate")
        assert slug == facts["slug"]
        assert isinstance(data, dict)
        assert len(data["reasons"]) == verdicts.count("failed") + verdicts.count("gated")
    assert (site / "evidence/verdicts.csv").read_bytes().count(b"\r\n") == 1 + 4 * 12
    assert json.loads((site / "downloads/report.json").read_text()) == json.loads(json.dumps(whole.data))


def test_much_evidence_is_paged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triathlon.report.site.evidence.PART_BYTES", 2000)
    made = suite(tmp_path / "s", groups=1, cases=1)
    with Store(fill(tmp_path / "a.sqlite", made, dict.fromkeys("abcde", 0.5))) as store:
        write_site(report(population(store, made)), store, tmp_path / "site")
    first = calls(tmp_path / "site/evidence/g0--c0.0.js", "TRIATHLON.case")
    parts = first[3]["parts"]  # type: ignore[index]
    assert parts > 1
    rows = [calls(tmp_path / f"site/evidence/g0--c0.{n}.js", "TRIATHLON.case")[2] for n in range(parts)]
    assert [row["c"] for part in rows for row in part] == [0, 1, 2, 3, 4]  # type: ignore[attr-defined]


def test_the_foot_names_what_it_was_measured_with_and_marks_what_is_mixed(site: Path, tmp_path: Path) -> None:
    foot = (site / "categories.html").read_text().partition("<footer>")[2]
    for words in ("1.0.0", "p" * 64, "r" * 64, "namespaces", "triathlon"):
        assert words in foot
    assert "not the same" not in foot
    made = suite(tmp_path / "s", groups=1, cases=2)
    with Store(tmp_path / "a.sqlite") as store:
        store.put(row(made.cases[1], "x", True), {})
        store.put(row(made.cases[1], "y", True, provider="none"), {})
        write_site(report(population(store, made)), store, tmp_path / "site")
    text = (tmp_path / "site/index.html").read_text()
    assert "Not the same for all candidates: provider" in text
    assert "(not the same for all candidates)" in text.partition("<footer>")[2]


def test_an_old_site_is_replaced_and_another_folder_is_not(tmp_path: Path, whole: Report, store: Store) -> None:
    write_site(whole, store, tmp_path / "site")
    (tmp_path / "site/evidence/old.js").write_text("x")
    write_site(whole, store, tmp_path / "site")
    assert not (tmp_path / "site/evidence/old.js").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="another folder"):
        write_site(whole, store, tmp_path / "mine")
    with pytest.raises(UsageError, match="is a file"):
        write_site(whole, store, tmp_path / "mine/thesis.txt")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_charts_are_drawn_where_trees_were_measured(tmp_path: Path, whole: Report, store: Store) -> None:
    sizes = {one.member.tree: Measures(1, 2, 900, 0, 0, 1.0, 0, 0, 1, 1) for one in whole.population.seen}
    out = write_site(report(whole.population, sizes), store, tmp_path / "site").parent
    read = Reader((out / "statistics.html").read_text())
    assert [tag for tag, _ in read.seen].count("circle") == 8
    for _, found in (item for item in read.seen if item[0] == "circle"):
        assert 0 <= float(found["cx"] or -1) <= 640 and 0 <= float(found["cy"] or -1) <= 380


def test_a_chart_of_nothing_or_of_zeros_is_a_chart() -> None:
    assert "circle" not in scatter("t", "x", "y", [])
    assert 'cx="60.0" cy="332.0"' in scatter("t", "x", "y", [Point(0, 0, "p")])


def test_the_scripts_are_valid(site: Path) -> None:
    import subprocess

    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the scripts' syntax is not looked at")
    for path in [*(site / name for name in ASSETS if name.endswith(".js")), site / "data/site.js"]:
        assert subprocess.run([node, "--check", path], capture_output=True).returncode == 0, path


def test_the_command_prints_the_page_and_json_prints_the_numbers(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(load, "spec_clauses", lambda: frozenset({"PERM-01"}))
    given = {"store": made / "a.sqlite", "cases": made / "cases", "builds": None}
    command.report(tmp_path / "site", **given, as_json=False)
    assert capsys.readouterr().out.strip() == str(tmp_path / "site/index.html")
    command.report(tmp_path / "site2", **given, as_json=True)
    assert json.loads(capsys.readouterr().out)["counts"]["candidates"] == 4
    assert not (tmp_path / "site2").exists()
