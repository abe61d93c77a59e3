"""The pages in a real browser: no console error, and sorting, filters, links and evidence work from the file system."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from triathlon.report.data import Report
from triathlon.report.site import write_site
from triathlon.report.site.build import MADE_BY_SCRIPT, STATIC
from triathlon.store import Store

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian: apt install chromium)"),
]


@pytest.fixture(scope="module")
def site(whole: Report, store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(whole, store, tmp_path_factory.mktemp("browser") / "site").parent


def dom(site: Path, address: str, profile: Path, then: str = "") -> str:
    """The page as it stands once its scripts have run; `then` is a script that is run at the end."""
    name, _, fragment = address.partition("#")
    path = site / name
    if then:
        path = site / f"with-{name}"
        script = f"<script>addEventListener('load', () => setTimeout(() => {{ {then} }}, 500));</script></body>"
        path.write_text((site / name).read_text().replace("</body>", script))
    assert BROWSER is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"]
    flags += [f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [BROWSER, *flags, "--dump-dom", path.as_uri() + ("#" + fragment if fragment else "")],
        capture_output=True,
        timeout=120,
        check=True,
    )
    complaints = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
    assert not complaints
    return done.stdout.decode()


@pytest.mark.parametrize("name", [*STATIC, *MADE_BY_SCRIPT])
def test_every_page_opens_without_a_console_error(site: Path, tmp_path: Path, name: str) -> None:
    text = dom(site, name, tmp_path)
    assert "<h1>" in text and "Measured with" in text


def test_a_click_sorts(site: Path, tmp_path: Path, whole: Report) -> None:
    click = "const b = document.querySelectorAll('thead button')[2]; b.click(); b.click();"
    text = dom(site, "index.html", tmp_path, click)
    body = text[text.index("<tbody>") : text.index("</tbody>")]
    shown = [re.findall(r'data-sort="([^"]+)"', part)[1] for part in body.split("<tr>")[1:]]
    assert [float(rate) for rate in shown] == sorted(row["rate"] for row in whole.data["models"])
    assert 'aria-sort="ascending"' in text


def test_filters_leave_what_fits(site: Path, tmp_path: Path) -> None:
    choose = (
        "const s = document.querySelector('select'); s.value = 'files';"
        " s.dispatchEvent(new Event('input', { bubbles: true }));"
    )
    assert "12 of 12 cases, 4 controls" in dom(site, "heatmap.html", tmp_path)
    assert "3 of 12 cases, 1 controls" in dom(site, "heatmap.html", tmp_path, choose)


def test_a_case_opens_its_evidence_once_and_marks_what_is_wrong(site: Path, tmp_path: Path, whole: Report) -> None:
    at, case = next(
        (at, item.id)
        for at, cells in enumerate(whole.population.verdicts)
        for item, verdict in zip(whole.population.table.items, cells, strict=True)
        if verdict == "failed"
    )
    text = dom(site, f"case.html#{case},{whole.data['candidates'][at]['slug']}", tmp_path)
    assert text.count("<h3>requests</h3>") == 1
    assert "<mark>hidden</mark>" in text
    assert "2 messages as in the request before" in text
    assert "exit code 0" in text and "± workspace/a.txt" in text
    assert "done \\xff" in text, "bytes that are no UTF-8 are shown"
    assert "<img" not in text
    assert 'class="request wrong"' in text


def test_a_candidate_says_why(site: Path, tmp_path: Path, whole: Report) -> None:
    slug = whole.data["candidates"][-1]["slug"]
    text = dom(site, f"candidate.html#{slug}", tmp_path)
    assert "By clause" in text and "Not passed: " in text
    assert "wanted not contains 'hidden'" in text
