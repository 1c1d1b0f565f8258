"""A browser without a window that opens a player.html, runs a script in it and returns what the script says."""

import html
import json
import pathlib
import re
import subprocess
import tempfile

import support

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=900,700",
         "--virtual-time-budget=2000000", "--dump-dom"]

# Puts what report() returns, or the error, into the page as text.
WRAPPER = """<script>
(async function () {
  const out = document.createElement("pre");
  out.id = "test-report";
  try {
    out.textContent = JSON.stringify(await (async function () { %s })());
  } catch (error) {
    out.textContent = JSON.stringify({error: String(error.stack || error)});
  }
  document.body.append(out);
})();
</script>
</body>"""


def ask(page, script, options=""):
    """Runs JavaScript in a copy of the page, opened with #options; returns its value."""
    browser = support.tool("chromium", "chromium")
    text = pathlib.Path(page).read_text(encoding="utf-8")
    head, end, tail = text.rpartition("</body>")
    assert end, "player.html has no </body>"
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "page.html"
        copy.write_text(head + WRAPPER % script + tail, encoding="utf-8")
        done = subprocess.run([browser, *FLAGS, f"--user-data-dir={folder}/profile", f"{copy.as_uri()}#{options}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                              timeout=300, check=False)
    found = re.search(r'<pre id="test-report">(.*?)</pre>', done.stdout, re.DOTALL)
    if not found:
        support.finish([f"the browser gave no report (exit {done.returncode}):\n{done.stderr[-3000:]}"])
    report = json.loads(html.unescape(found.group(1)))
    if isinstance(report, dict) and "error" in report:
        support.finish([f"the page's script failed: {report['error']}"])
    return report
