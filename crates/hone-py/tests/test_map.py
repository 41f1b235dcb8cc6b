"""The page of a map in a real browser: opened from disk, without a network, and used."""

import json
import pathlib

import networkx
import numpy as np
import pytest

browser = pytest.importorskip("browser", reason="the package websockets is not installed")

import hone_embed  # noqa: E402

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
    made = hone_embed.map(graph, labels=clubs, attributes={"age": ages}, title="<i>club</i>")
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
    corner = "points.getBoundingClientRect()"
    script = f"(([x, y]) => [{corner}.left + x, {corner}.top + y])(toScreen(...at(findId({id!r}))))"
    return chrome.run(script)


def test_opens_without_a_network_and_is_not_blank(chrome, page):
    chrome.open(page)
    assert chrome.problems == []
    assert all(url.startswith(("file:", "about:", "blob:")) for url in chrome.requests), chrome.requests
    assert chrome.run("renderer.name") == "webgl2"
    assert distinct(chrome) > 20
    assert chrome.run("document.title") == "<i>club</i>"
    assert chrome.run("document.getElementById('title').textContent") == "<i>club</i>"
    assert chrome.run("window.hacked === undefined")


@pytest.mark.parametrize("id", ODD)
def test_search_finds_any_id_and_shows_it_as_text(chrome, page, id):
    chrome.open(page)
    chrome.run(f"document.getElementById('query').value = {id!r}; document.getElementById('search').requestSubmit()")
    assert chrome.run("document.getElementById('node-id').textContent") == id
    assert chrome.run("document.querySelectorAll('aside script, aside b, aside i:not(.share i)').length") == 0
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
    shown = "Array.from({length: N}, (_, i) => bytes[4 * i + 3] > 0).filter(Boolean).length"
    assert chrome.run(shown) == 34
    chrome.run("document.querySelector('.key').click()")
    assert 0 < chrome.run(shown) < 34
    chrome.run("document.getElementById('show-all').click()")
    assert chrome.run(shown) == 34
    for key in chrome.run("Array.from(document.getElementById('colour').options, (option) => option.value)"):
        chrome.run(f"colourBy({key!r})")
    chrome.run("colourBy(colourings().find((entry) => entry.name === 'age').key); range = [0, 10]; paintColours()")
    assert chrome.run(shown) == 7
    assert chrome.problems == []


def test_box_and_lasso_select(chrome, page):
    chrome.open(page)
    left, top, right, bottom = chrome.run(
        "(() => { const b = points.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom] })()"
    )
    chrome.run("document.getElementById('tool-box').click()")
    chrome.drag((left + 3, top + 3), (left + 300, top + 300), (right - 3, bottom - 3))
    assert chrome.run("document.getElementById('picked').textContent") == "34 nodes"
    x, y = place(chrome, "member 33")
    chrome.run("document.getElementById('tool-lasso').click()")
    chrome.drag((x - 15, y - 15), (x + 15, y - 15), (x + 15, y + 15), (x - 15, y + 15))
    assert 1 <= chrome.run("selection.size") < 34 and chrome.run("selection.has(findId('member 33'))")
    assert "member 33" in chrome.run("idText([...selection])")
    chrome.run("document.getElementById('copy').click()")
    assert chrome.problems == []


def test_light_and_dark_keyboard_and_address(chrome, page):
    chrome.open(page, "theme=light")
    light = brightness(chrome)
    chrome.run("document.getElementById('theme').click()")
    assert light > 200 > 80 > brightness(chrome)
    chrome.run("document.getElementById('points').focus()")
    for key in ("+", "+", "ArrowRight"):
        chrome.key(key)
    chrome.until("location.hash.includes('theme=dark')")
    chrome.until("view.x > 0.5")
    kept = chrome.run("JSON.stringify(view)")
    now = "`${view.x.toFixed(4)},${view.y.toFixed(4)},${view.zoom.toFixed(3)}`"
    chrome.until(f"new URLSearchParams(location.hash.slice(1)).get('view') === {now}")
    fragment = chrome.run("location.hash.slice(1)")
    chrome.open(page, fragment)
    again = chrome.run("JSON.stringify(view)")
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
    assert distinct(chrome, "0") > 10 and chrome.run("renderer.name") == renderer
    chrome.call("Page.removeScriptToEvaluateOnNewDocument", identifier=no_frames["identifier"])


def test_reasons_are_those_of_the_command(chrome, page):
    graph = networkx.karate_club_graph()
    found = hone_embed.roles(graph)
    chrome.open(page)
    for node in (0, 8, 11, 33):
        name = ODD[node] if node < len(ODD) else f"member {node}"
        shown = chrome.run(f"data.why(findId({name!r}))")
        assert shown == "It" + found.explain(node)[len(str(node)):]


def test_without_webgl_a_canvas_is_used_and_says_so(chrome, page):
    chrome.open(page, "renderer=canvas")
    assert chrome.run("renderer.name") == "canvas"
    assert "canvas" in chrome.run("document.getElementById('notice').textContent")
    assert distinct(chrome) > 10
    assert chrome.problems == []


def test_the_page_names_no_other_place(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    assert text.count("http") == text.count("http://www.w3.org/2000/svg") + text.count("http-equiv")
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert "unsafe" not in policy and "base-uri 'none'; form-action 'none'" in policy
