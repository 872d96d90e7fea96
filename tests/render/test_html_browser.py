"""The page in a browser, where one is installed: it asks for nothing, complains of nothing, and fits a phone."""

from __future__ import annotations

import http.server
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gpudoctor.facts import Facts
from gpudoctor.render import rendered
from tests.checks.test_libraries import gap
from tests.factory import healthy, lists_no_gpu, with_
from tests.render.parsed import Said
from tests.render.parsed import html as read
from tests.render.test_formats import made, poisoned
from tests.render.test_html import paired

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--v=0",
)  # fmt: skip
FRAME = """<!doctype html><title>not measured</title><img src="/control" alt=""><iframe width=360 height=800 src="/page"></iframe><script>
onload = () => {
  const inside = document.querySelector("iframe").contentDocument;
  for (const one of inside.querySelectorAll("details")) one.open = true;
  const wide = [...inside.querySelectorAll(".wide, pre")].filter(one => one.scrollWidth > one.clientWidth).length;
  const closed = inside.querySelectorAll("details:not([open])").length;
  document.title = ["width", inside.documentElement.scrollWidth, "boxes that scroll", wide, "closed", closed].join(" ");
}
</script>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


class Site(NamedTuple):
    """A server of this machine, which remembers what it was asked for."""

    address: str
    pages: dict[str, str]
    asked: list[str]


@pytest.fixture
def site() -> Iterator[Site]:
    pages, asked = dict[str, str](), list[str]()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(pages.get(self.path, "").encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(f"http://127.0.0.1:{server.server_port}", pages, asked)
        server.shutdown()


def browse(address: str, profile: Path) -> tuple[str, list[str]]:
    """The elements that the browser has made of a page, and what it complains of."""
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, *QUIET, f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom", address],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def planted(facts: Facts, address: str) -> Facts:
    """Whatever could make a browser ask for something, in every text."""
    url = f"{address}/planted"
    lures = (
        f"<img src={url}>",
        f"\"><script src='{url}'></script><link rel=stylesheet href={url}>",
        f"</style><style>@import url({url});*{{background:url({url})}}</style>",
        f"</title><meta http-equiv=refresh content='0;url={url}'><base href='{url}'>",
        f"' onerror=fetch('{url}') style='background:url({url})'",
        "</svg><script>console.error('planted')</script>",
    )
    changed = poisoned(facts, "".join(lures))
    assert isinstance(changed, Facts)
    return changed


@pytest.mark.parametrize("facts", [paired(), gap(), lists_no_gpu(healthy())], ids=["measured", "cause", "open"])
def test_it_asks_for_nothing(facts: Facts, site: Site, tmp_path: Path) -> None:
    report = made(planted(facts, site.address))
    site.pages["/page"] = rendered(report, "html")
    shown, complaints = browse(f"{site.address}/page", tmp_path)
    assert complaints == []
    assert site.asked == ["/page"]
    assert "<script" not in shown
    roots = [one for one in report.diagnosis.root_causes if one.level != "info"]
    assert read(shown.removeprefix("<!DOCTYPE html>")) == Said(report.diagnosis.verdict, [one.cause for one in roots])


def test_it_fits_a_phone(site: Site, tmp_path: Path) -> None:
    """Without a page that scrolls sideways, also where every fold is open; and the server does hear of what is asked for."""
    site.pages["/page"], site.pages["/frame"] = rendered(made(paired()), "html"), FRAME
    shown, _ = browse(f"{site.address}/frame", tmp_path)
    (title,) = re.findall("<title>(.*?)</title>", shown)
    width, scrolling, closed = map(int, re.findall(r"\d+", title))
    assert 300 < width <= 360
    assert scrolling > 0
    assert closed == 0
    assert "/control" in site.asked


def test_a_program_in_it_would_not_run(site: Site, tmp_path: Path) -> None:
    """Should markup of a stranger ever get through, the page's own policy still stops it, and the browser says so."""
    page = rendered(made(with_(healthy(), measurements=())), "html")
    lure = (
        f"<script>fetch('{site.address}/planted')</script><img src={site.address}/planted><style>a{{color:red}}</style>"
    )
    site.pages["/page"] = page.replace("</main>", f"{lure}</main>")
    _, complaints = browse(f"{site.address}/page", tmp_path)
    assert site.asked == ["/page"]
    assert len(complaints) >= 3
    assert all("Content Security Policy" in line for line in complaints)
