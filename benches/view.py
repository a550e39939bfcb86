"""How large the page of a run is, and how long a frame takes in a browser: ``python benches/view.py``.

A torus of 32 x 32 routers under uniform traffic, in 10,000 frames of 4,096 channels; headless Chromium by Selenium, no
graphics card. Printed are the size of the page, the time that it takes to write it and to open it, and for 300 frames
one after the other the time between two pictures, and what of it our own code takes (median and 95th percentile).
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import flitwork as fw
from selenium import webdriver

#: Shows frame after frame, as fast as the browser asks for them.
_PLAY = """
const [metric, done] = arguments, own = [], between = [];
change({ metric, selected: { kind: "channel", id: 2000 } });
let frame = 0, last = performance.now();
function next() {
  const now = performance.now();
  between.push(now - last);
  last = now;
  goTo(frame += 7);
  own.push(performance.now() - now);
  if (own.length < 300) requestAnimationFrame(next); else done([own, between]);
}
requestAnimationFrame(next);
"""


def main() -> None:
    """Writes the page and measures it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=32, help="routers along each dimension [default: 32]")
    parser.add_argument("--frames", type=int, default=10_000, help="windows of time [default: 10,000]")
    given = parser.parse_args()
    cycles = 2 * given.frames
    run = fw.Run(
        warmup_cycles=1000,
        measurement_cycles=cycles - 1050,
        record=fw.Record(channel_window_cycles=2, waits=True),
    )
    network = fw.Torus(given.size, given.size, router=fw.Router(vcs=4, buffer_flits=8))
    work = fw.traffic("uniform", offered_load=3.2 / given.size, packet_flits=4)
    started = time.perf_counter()
    result = fw.simulate(network, work, run=run)
    print(f"{result}: {time.perf_counter() - started:.1f} s to simulate")
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        page = fw.view(result, Path(folder) / "run.html")
        windows = result.channel_windows
        assert windows is not None
        size, seconds = page.stat().st_size / 1e6, time.perf_counter() - started
        frames, channels = windows.shape
        print(f"{frames:,} frames of {channels:,} channels: {size:.1f} MB, {seconds:.1f} s to write")
        measure(page)


def measure(page: Path) -> None:
    """Opens the page and plays it."""
    browser = _browser()
    browser.set_script_timeout(120)
    try:
        started = time.perf_counter()
        browser.get(page.as_uri())
        while not browser.execute_script("return document.documentElement.dataset.ready"):
            time.sleep(0.01)
        print(f"{time.perf_counter() - started:.2f} s to open")
        for metric in ("load", "waiting"):
            own, between = browser.execute_async_script(_PLAY, metric)
            print(f"{metric}: {_told(between)} between pictures, of that {_told(own)} our own code")
    finally:
        browser.quit()


def _told(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ms ({statistics.quantiles(times, n=20)[-1]:.1f})"


def _browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1366,768"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


if __name__ == "__main__":
    main()
