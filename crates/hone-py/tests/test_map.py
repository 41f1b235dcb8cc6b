"""The page of a map in a real browser: opened from disk, without a network, and used."""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import networkx
import numpy as np
import pytest

browser = pytest.importorskip("browser", reason="the package websockets is not installed")

import hone_embed  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "crates/hone-explore/src/map/page"
# Where `check` has installed axe-core and typescript from npm.
MODULES = pathlib.Path(os.environ.get("HONE_NODE_MODULES", ROOT / "target/node/node_modules"))

ODD = ["<script>window.hacked = 1</script>", "\"quoted\" 'id'", "🦀 crab", "שלום עולם", "a&b", "</title>", "100%", " "]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A map of a small graph with odd names."""
    graph = networkx.karate_club_graph()
    names = {node: ODD[node] if node < len(ODD) else f"member {node}" for node in graph}
    clubs = [graph.nodes[node]["club"] for node in graph]
    ages = np.arange(len(graph)) * 1.5
    graph = networkx.relabel_nodes(graph, names)
    path = tmp_path_factory.mktemp("map") / "odd <b>.html"
    made = hone_embed.draw_map(graph, labels=clubs, attributes={"age": ages}, title="<i>club</i>")
    made.save(path.with_suffix(".svg"))
    made.save(path)
    assert "<iframe srcdoc=" in made._repr_html_()
    return path


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    if browser.find() is None:
        pytest.skip("NO BROWSER: the map was not tested in one; install chromium, or set HONE_BROWSER")
    opened = browser.Browser(tmp_path_factory.mktemp("chrome"))
    yield opened
    opened.close()


COLOURS = """(() => {
    const copy = document.createElement("canvas"), pen = copy.getContext("2d");
    const points = document.getElementById("points");
    [copy.width, copy.height] = [points.width, points.height];
    pen.drawImage(points, 0, 0);
    return new Set(new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
})()"""


def distinct(chrome, first="new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"):
    """How many colours the points have on the screen, right after something was done."""
    return chrome.run(f"(async () => {{ await {first}; return {COLOURS}; }})()")


def brightness(chrome):
    """The mean of the background's red, green and blue."""
    colour = chrome.run("getComputedStyle(document.body).backgroundColor")
    return np.mean([int(part) for part in colour[4:-1].split(",")])


def place(chrome, id):
    """Where a node is on the screen."""
    corner = "document.getElementById('points').getBoundingClientRect()"
    script = f"(([x, y]) => [{corner}.left + x, {corner}.top + y])(hone.toScreen(...hone.at(hone.findId({id!r}))))"
    return chrome.run(script)


def test_opens_without_a_network_and_is_not_blank(chrome, page):
    chrome.open(page)
    assert chrome.problems == []
    assert all(url.startswith(("file:", "about:", "blob:")) for url in chrome.requests), chrome.requests
    assert chrome.run("hone.renderer().name") == "webgl2"
    assert distinct(chrome) > 20
    assert chrome.run("document.title") == "<i>club</i>"
    assert chrome.run("document.getElementById('title').textContent") == "<i>club</i>"
    assert chrome.run("window.hacked === undefined")


@pytest.mark.parametrize("id", ODD)
def test_search_finds_any_id_and_shows_it_as_text(chrome, page, id):
    chrome.open(page)
    chrome.run(f"document.getElementById('query').value = {id!r}; document.getElementById('search').requestSubmit()")
    assert chrome.run("document.getElementById('node-id').textContent") == id
    markup = "#details script, #details b:not(.share b), #details i:not(.share i)"
    assert chrome.run(f"document.querySelectorAll('{markup}').length") == 0
    assert chrome.run("document.querySelectorAll('#near tr').length") == 10
    reasons = chrome.run("document.getElementById('reasons').textContent")
    assert "because" in reasons and ("It would have been" in reasons or "would have given it another role" in reasons)
    chrome.until("location.hash.includes('node=')")
    assert chrome.problems == [] and chrome.run("window.hacked === undefined")


def test_clicks_open_nodes_and_neighbours(chrome, page):
    chrome.open(page)
    chrome.mouse("mouseMoved", *place(chrome, "member 33"))
    assert chrome.run("document.getElementById('tip').hidden") is False
    chrome.click(*place(chrome, "member 33"))
    assert chrome.run("document.getElementById('node-id').textContent") == "member 33"
    chrome.run("document.querySelector('#near button').click()")
    assert chrome.run("document.getElementById('node-id').textContent") != "member 33"
    assert chrome.problems == []


def test_the_legend_filters(chrome, page):
    chrome.open(page, "colour=role")
    shown = "Array.from({length: hone.meta.nodes}, (_, i) => hone.shown(i)).filter(Boolean).length"
    assert chrome.run(shown) == 34
    chrome.run("document.querySelector('.key').click()")
    assert 0 < chrome.run(shown) < 34
    chrome.run("document.getElementById('show-all').click()")
    assert chrome.run(shown) == 34
    nodes = int(chrome.run("document.querySelector('.key .count').textContent"))
    chrome.run("document.querySelector('.only').focus(); document.activeElement.click()")
    assert chrome.run(shown) == nodes
    assert chrome.run("document.activeElement.className") == "only"
    for key in chrome.run("Array.from(document.getElementById('colour').options, (option) => option.value)"):
        chrome.run(f"hone.colourBy({key!r})")
    chrome.run("hone.colourBy('own-1'); hone.state.range = [0, 10]; hone.refresh()")
    assert chrome.run(shown) == 7
    assert chrome.problems == []


def test_the_page_and_the_picture_have_the_same_colours(chrome, page):
    chrome.open(page)
    colours = chrome.run(
        "Array.from({length: 34}, (_, i) => hone.looksOf(hone.state.scheme)[hone.looks[i]].colour).sort()"
    )
    drawn = []
    runs = re.findall(r'<g fill="(#\w+)"[^>]*>(.*?)</g>', page.with_suffix(".svg").read_text(encoding="utf-8"), re.S)
    legend = len(chrome.run("hone.state.scheme.groups.filter((group) => group.nodes)"))
    for colour, run in runs[:-legend]:
        drawn += [colour] * run.count("<circle")
    assert sorted(drawn) == colours and len(set(colours)) == 2
    radius = float(re.search(r' r="([\d.]+)"', runs[0][1]).group(1))
    assert radius == pytest.approx(800 * chrome.run("hone.meta.radius"), abs=0.01)


def test_two_layouts_are_in_one_page(chrome, page):
    chrome.open(page)
    places = "JSON.stringify(Array.from({length: 34}, (_, i) => hone.at(i)))"
    near = "document.getElementById('near').textContent"
    chrome.run("document.getElementById('query').value = 'member 33'")
    chrome.run("document.getElementById('search').requestSubmit()")
    before, like = chrome.run(places), chrome.run(near)
    names = "Array.from(document.getElementById('layout').options, (option) => option.textContent)"
    assert chrome.run(names) == ["proximity", "structure"]
    choose = "layout.value = {}; layout.dispatchEvent(new Event('change'))"
    chrome.run(choose.format(1))
    assert chrome.run(places) != before and chrome.run(near) != like
    assert chrome.run("document.querySelector('#near').getAttribute('aria-label')") == "Most similar by structure"
    chrome.until("location.hash.includes('layout=structure')")
    chrome.run(choose.format(0))
    assert chrome.run(places) == before and chrome.run(near) == like
    assert chrome.problems == []


def test_nodes_without_a_value_are_grey_small_and_below(chrome, tmp_path):
    graph = networkx.karate_club_graph()
    labels = [None if node > 3 else "fraud" for node in graph]
    sums = [10.0**k if k > 5 else np.nan for k in range(34)]
    made = hone_embed.draw_map(graph, labels=labels, attributes={"sum": sums})
    made.save(tmp_path / "few.html")
    made.save(tmp_path / "few.svg")
    chrome.open(tmp_path / "few.html")
    named = "Array.from(document.querySelectorAll('.key .name'), (name) => name.textContent)"
    assert chrome.run(named) == ["fraud", "(none)"]
    scheme = chrome.run("hone.state.scheme")
    first = scheme["groups"][scheme["order"][0]]
    assert (first["name"], first["nodes"], first["muted"], first["colour"]) == ("(none)", 30, True, "#b4b4b4")
    runs = re.findall(r'<g fill="(#\w+)"[^>]*>(.*?)</g>', (tmp_path / "few.svg").read_text(encoding="utf-8"), re.S)
    radii = [float(re.search(r' r="([\d.]+)"', run).group(1)) for _, run in runs[:2]]
    assert runs[0][0] == "#b4b4b4" and radii[0] < 0.7 * radii[1]
    # On black, too, however many of them lie above each other.
    light = """(() => {
        const copy = document.createElement("canvas"), pen = copy.getContext("2d");
        [copy.width, copy.height] = [points.width, points.height];
        pen.fillRect(0, 0, copy.width, copy.height);
        pen.drawImage(points, 0, 0);
        const { data } = pen.getImageData(0, 0, copy.width, copy.height), most = [0, 0];
        for (let at = 0; at < data.length; at += 4) {
            const [r, g, b] = data.subarray(at, at + 3), hue = Math.max(r, g, b) - Math.min(r, g, b) > 60 ? 1 : 0;
            most[hue] = Math.max(most[hue], 0.21 * r + 0.72 * g + 0.07 * b);
        }
        return most;
    })()"""
    chrome.run("document.documentElement.dataset.theme === 'dark' || document.getElementById('theme').click()")
    chrome.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    grey, blue = chrome.run(light)
    assert 0 < grey < blue
    chrome.run("hone.colourBy('own-1')")
    assert chrome.run("document.getElementById('log').checked") and "6 nodes without a value" in chrome.run(
        "document.getElementById('legend').textContent"
    )
    chrome.run("document.getElementById('log').click()")
    assert chrome.run("hone.state.log") is False and chrome.problems == []


def test_names_of_groups_are_inside_the_map(chrome, tmp_path):
    """At any size and place of the view, in both layouts; groups that are not in view have none."""
    graph = networkx.grid_2d_graph(4, 4)
    names = [f"the {k}th group, whose name is very long" for k in range(4)]
    made = hone_embed.draw_map(graph, labels=[names[row] for row, _ in graph], layout="pca")
    made.save(tmp_path / "long.html")
    keep = """window.written = []; CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const half = this.measureText(text).width / 2;
        written.push([text, x - half, x + half, y - 7, y + 7, this.canvas.clientWidth, this.canvas.clientHeight]);
    }; 0"""
    for width, height in ((1400, 900), (420, 900), (250, 400)):
        chrome.resize(width, height)
        for view in ("0.5,0.5,1", "0.7,0.3,0.6", "0.9,0.9,3", "0.1,0.5,2"):
            for layout in ("", "&layout=structure"):
                chrome.open(tmp_path / "long.html", f"view={view}{layout}")
                chrome.run(keep)
                chrome.run("hone.refresh()")
                chrome.until("written.length || hone.view.zoom > 1")
                for text, left, right, top, bottom, wide, high in chrome.run("written"):
                    inside = left >= 0 and right <= wide and top >= 0 and bottom <= high
                    assert inside, (text, left, right, top, bottom, wide, high)
    chrome.call("Emulation.clearDeviceMetricsOverride")
    chrome.open(tmp_path / "long.html", "view=9,9,1")
    chrome.run(keep)
    chrome.run("hone.refresh(); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert chrome.run("written.length") == 0 and chrome.problems == []


def test_motifs_have_numbers(chrome, tmp_path):
    made = hone_embed.draw_map("builtin:karate", layout="pca", numbers=True, colour="motif: triangle")
    made.save(tmp_path / "numbers.html")
    chrome.open(tmp_path / "numbers.html", "node=33&tab=graph")
    assert chrome.run("document.getElementById('colour').selectedOptions[0].textContent") == "motif: 3"
    rows = "Array.from(document.querySelectorAll('#counts td:first-child'), (cell) => cell.textContent)"
    assert chrome.run(rows) == [str(orbit) for orbit in range(15)]
    text = chrome.run("document.getElementById('graph').textContent")
    assert "G8" in text and "triangle" not in text.replace("triangle corner", "")
    assert chrome.problems == []


def test_the_keyboard_reaches_every_control_and_every_node(chrome, page):
    chrome.open(page, "theme=light")
    chrome.run("document.body.focus()")
    reached, ids = [], "document.activeElement.id || document.activeElement.tagName"
    for _ in range(60):
        chrome.key("Tab")
        reached.append(chrome.run(ids))
        visible = chrome.run("(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle; })()")
        assert reached[-1] == "BODY" or visible != "none", reached[-1]
        if reached[-1] == "BODY" or reached.count(reached[-1]) > 1:
            break
    wanted = chrome.run(
        """Array.from(document.querySelectorAll("button, input, select, summary, canvas[tabindex]"))
        .filter((one) => one.checkVisibility() && one.tabIndex >= 0).map((one) => one.id || one.tagName)"""
    )
    assert wanted and set(wanted) <= set(reached), set(wanted) - set(reached)
    chrome.run("document.getElementById('points').focus()")
    seen = set()
    for _ in range(34):
        chrome.key("PageDown")
        seen.add(chrome.run("document.getElementById('live').textContent.split(',')[0]"))
    assert len(seen) == 34
    before = chrome.run("hone.state.focus")
    moved = set()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        chrome.key(key)
        moved.add(chrome.run("hone.state.focus"))
    assert moved - {before}
    chrome.key(" ")
    assert chrome.run("hone.state.selection.size") == 1
    chrome.key("Enter")
    assert chrome.run("hone.state.chosen === hone.state.focus && !document.getElementById('node').hidden")
    chrome.key("Escape")
    assert chrome.run("hone.state.chosen") == -1
    # Letters do nothing, there or elsewhere.
    kept = chrome.run("JSON.stringify([hone.state, hone.view])")
    for key in "vbldeVBLDE/0":
        chrome.key(key)
    assert chrome.run("JSON.stringify([hone.state, hone.view])") == kept
    chrome.run("document.getElementById('tab-legend').focus()")
    chrome.key("ArrowRight")
    assert chrome.run("document.activeElement.id") == "tab-node"
    assert chrome.problems == []


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(chrome, page, width, theme):
    axe = MODULES / "axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("NO AXE: the map's accessibility was not tested; npm install --prefix target/node axe-core")
    chrome.resize(width, 900)
    for fragment in ("", "node=member 33", "tab=graph&colour=own-1", "tab=selection&shapes=true&layout=structure"):
        chrome.open(page, f"theme={theme}&{fragment}")
        chrome.run(axe.read_text(encoding="utf-8") + "; 0")
        listed = "found.violations.map((one) => one.id + ': ' + one.nodes[0].html)"
        found = chrome.run(f"axe.run().then((found) => {listed})")
        assert found == [], (fragment, found)
        assert chrome.run("document.documentElement.scrollWidth") <= width
    chrome.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("reduced", [True, False])
def test_motion_is_reduced_where_that_is_asked_for(chrome, page, reduced):
    value = "reduce" if reduced else "no-preference"
    chrome.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": value}])
    chrome.open(page)
    # Going to a node takes no time, or some frames.
    chrome.run("document.getElementById('query').value = 'member 33'")
    go = "(() => { document.getElementById('search').requestSubmit(); return [hone.view.x, hone.view.y]; })()"
    at_once, place = chrome.run(go), chrome.run("hone.at(hone.findId('member 33'))")
    assert (at_once == pytest.approx(place, abs=1e-6)) is reduced
    chrome.until(f"Math.hypot(hone.view.x - {place[0]}, hone.view.y - {place[1]}) < 1e-6")
    longest = "Math.max(...getComputedStyle(document.querySelector('button')).transitionDuration.split(',').map(parseFloat))"
    assert (chrome.run(longest) == 0) is reduced
    chrome.call("Emulation.setEmulatedMedia", features=[])
    assert chrome.problems == []


def test_box_and_lasso_select(chrome, page):
    chrome.open(page)
    left, top, right, bottom = chrome.run(
        "(({ left, top, right, bottom }) => [left, top, right, bottom])(points.getBoundingClientRect())"
    )
    chrome.run("document.getElementById('tool-box').click()")
    chrome.drag((left + 3, top + 3), (left + 300, top + 300), (right - 3, bottom - 3))
    assert chrome.run("document.getElementById('picked').textContent") == "34 nodes"
    x, y = place(chrome, "member 33")
    chrome.run("document.getElementById('tool-lasso').click()")
    chrome.drag((x - 15, y - 15), (x + 15, y - 15), (x + 15, y + 15), (x - 15, y + 15))
    assert 1 <= chrome.run("hone.state.selection.size") < 34
    assert chrome.run("hone.state.selection.has(hone.findId('member 33'))")
    assert "member 33" in chrome.run("hone.idText([...hone.state.selection])")
    # As a file of node ids is read: what would be read as something else is in quotes.
    listed = chrome.run("hone.idText([\"\\\"quoted\\\" 'id'\", ' ', 'a&b'].map(hone.findId))")
    assert listed == "\"\"\"quoted\"\" 'id'\"\n\" \"\na&b\n"
    chrome.run("document.getElementById('copy').click()")
    assert chrome.problems == []


def test_light_and_dark_keyboard_and_address(chrome, page):
    chrome.open(page, "theme=light")
    light = brightness(chrome)
    chrome.run("document.getElementById('theme').click()")
    assert light > 200 > 80 > brightness(chrome)
    chrome.run("document.getElementById('points').focus()")
    for key in ("+", "+"):
        chrome.key(key)
    chrome.key("ArrowRight", shift=True)
    chrome.until("location.hash.includes('theme=dark')")
    chrome.until("hone.view.x > 0.5")
    kept = chrome.run("JSON.stringify(hone.view)")
    now = "`${hone.view.x.toFixed(4)},${hone.view.y.toFixed(4)},${hone.view.zoom.toFixed(3)}`"
    chrome.until(f"new URLSearchParams(location.hash.slice(1)).get('view') === {now}")
    fragment = chrome.run("location.hash.slice(1)")
    chrome.open(page, fragment)
    again = chrome.run("JSON.stringify(hone.view)")
    assert np.allclose(list(json.loads(kept).values()), list(json.loads(again).values()), atol=1e-3)
    assert chrome.run("document.documentElement.dataset.theme") == "dark"
    chrome.key("Enter")
    chrome.key("Escape")
    chrome.run("document.getElementById('tab-graph').click()")
    assert chrome.run("document.querySelectorAll('#roles tr, #affinity tr').length") >= 4
    assert chrome.problems == []


@pytest.mark.parametrize("renderer", ["webgl2", "canvas"])
def test_the_picture_needs_no_frame(chrome, page, renderer):
    """With virtual time, as for screenshots, a page may be given no frame after it is loaded."""
    no_frames = chrome.call("Page.addScriptToEvaluateOnNewDocument", source="window.requestAnimationFrame = () => 1")
    chrome.open(page, "" if renderer == "webgl2" else "renderer=canvas")
    assert distinct(chrome, "0") > 10 and chrome.run("hone.renderer().name") == renderer
    chrome.call("Page.removeScriptToEvaluateOnNewDocument", identifier=no_frames["identifier"])


def test_reasons_are_those_of_the_command(chrome, page):
    graph = networkx.karate_club_graph()
    found = hone_embed.roles(graph)
    chrome.open(page)
    for node in (0, 8, 11, 33):
        name = ODD[node] if node < len(ODD) else f"member {node}"
        shown = chrome.run(f"hone.data.why(hone.findId({name!r}))")
        assert shown == "It" + found.explain(node)[len(str(node)):]


def test_without_webgl_a_canvas_is_used_and_says_so(chrome, page):
    chrome.open(page, "renderer=canvas")
    assert chrome.run("hone.renderer().name") == "canvas"
    assert "canvas" in chrome.run("document.getElementById('notice').textContent")
    assert distinct(chrome) > 10
    assert chrome.problems == []


def test_the_page_names_no_other_place(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    assert text.count("http") == text.count("http://www.w3.org/2000/svg") + text.count("http-equiv")
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert "unsafe" not in policy and "base-uri 'none'; form-action 'none'" in policy


def test_the_policy_has_the_hashes_of_style_and_script():
    """HONE_WRITE_DOCS=1 writes them."""
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    names = ("data", "plot", "colour", "panels", "main")
    modules = [(PAGE / f"{name}.js").read_text(encoding="utf-8") for name in names]
    lines = [line for module in modules for line in module.splitlines()]
    lines = [line.removeprefix("export ") for line in lines if not line.startswith(("import ", "// @ts-check"))]
    expected = page
    for kind, text in (("script", "\n".join(lines)), ("style", (PAGE / "style.css").read_text(encoding="utf-8"))):
        hash = base64.b64encode(hashlib.sha256(f"\n{text}\n".encode()).digest()).decode()
        expected = re.sub(f"{kind}-src '[^']*'", f"{kind}-src 'sha256-{hash}'", expected)
    if os.environ.get("HONE_WRITE_DOCS"):
        (PAGE / "page.html").write_text(expected, encoding="utf-8")
    else:
        assert page == expected, "HONE_WRITE_DOCS=1 pytest crates/hone-py -k policy"


def test_the_script_is_well_typed():
    compiler = MODULES / "typescript/bin/tsc"
    if not compiler.exists() or shutil.which("node") is None:
        pytest.skip("NO TYPESCRIPT: the map's script was not checked; npm install --prefix target/node typescript")
    options = "--noEmit --allowJs --checkJs --strict --noUnusedLocals --target es2023 --lib es2023,dom,dom.iterable"
    options += " --module esnext --moduleResolution bundler"
    command = ["node", compiler, *options.split(), PAGE / "main.js"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
