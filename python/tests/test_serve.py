"""``fanin serve``: what it answers, and to whom."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from http import HTTPStatus
from pathlib import Path

import jsonschema
import pytest
from conftest import SCENARIO
from hypothesis import given, settings
from hypothesis import strategies as st
from patches import altered
from serving import TOKEN, Site

import fanin
from fanin.cli import main
from fanin.results.store import Store
from fanin.serve import api, page
from fanin.serve.listing import COLUMNS
from fanin.serve.server import Served

FIXED = settings(max_examples=400, derandomize=True, deadline=None, database=None)

DESCRIBED = json.loads(api.DESCRIPTION.read_text())


def ran(*words):
    """Runs a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert not ended.value.code


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A run with traces and captured packets, a sweep, and an experiment."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "small.toml").write_text(SCENARIO)
        traced = ["measure.queue-trace=on-change", "measure.probes=cwnd", "measure.capture=bottleneck"]
        words = [word for value in [*traced, "run.duration=50ms"] for word in ("--set", value)]
        ran("run", "small.toml", *words)
        ran("sweep", "small.toml", "--set", "run.duration=50ms", "--seeds", "1,2")
        ran("reproduce", "small.toml", "--seeds", "1")
    return folder / "results"


@pytest.fixture(scope="module")
def site(results):
    return Site(results)


@pytest.fixture(scope="module")
def traced(site):
    """The run with captured packets."""
    return next(row for row in site.get("/api/runs", "limit=1000").json["runs"] if row["capture"])["run_id"]


def schema_of(path, status, media_type):
    """The schema of an answer, with its references."""
    response = DESCRIBED["paths"][path]["get"]["responses"][str(status)]
    if "$ref" in response:
        response = DESCRIBED["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return {**response["content"][media_type]["schema"], "components": DESCRIBED["components"]}


def valid(path, got):
    """Whether an answer is what the description says of it."""
    if got.type.endswith("json"):
        jsonschema.validate(got.json, schema_of(path, got.status, got.type))
    else:
        schema_of(path, got.status, got.type)


def test_the_description_has_every_route_with_its_parameters_and_no_other():
    assert set(DESCRIBED["paths"]) == set(api.ROUTES)
    for path, methods in DESCRIBED["paths"].items():
        assert list(methods) == ["get"]
        named = {each["name"] for each in methods["get"]["parameters"] if each["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))
    sort = next(each for each in DESCRIBED["paths"]["/api/runs"]["get"]["parameters"] if each["name"] == "sort")
    assert sorted(sort["schema"]["enum"]) == sorted(COLUMNS)


def test_every_route_answers_as_it_is_described(site, traced):
    sweep = site.get("/api/sweeps").json["sweeps"][0]["id"]
    named = {"run": traced, "table": "flows", "sweep": sweep}
    queries = {"/api/experiment": "name=small", "/api/experiment/csv": "name=small&table=goodput-bps"}
    queries |= dict.fromkeys(("/api/experiment/table", "/api/experiment/parquet"), "name=small&table=runs")
    for path in api.ROUTES:
        at = path.format(**(named | {"table": "runs"} if "{sweep}" in path else named))
        got = site.get(at, queries.get(path, ""))
        assert got.status == HTTPStatus.OK, (path, got.body)
        valid(path, got)


def test_runs_are_searched_sorted_and_shown_in_parts(site):
    every = site.get("/api/runs", "limit=1000").json
    assert every["total"] == every["found"] == len(every["runs"]) == 19
    found = site.get("/api/runs", "search=DCTCP+two-switch&sort=drops&order=descending&limit=1000").json
    assert 0 < found["found"] < every["total"]
    assert {row["scheme"] for row in found["runs"]} == {"dctcp"}
    drops = [row["drops"] for row in found["runs"]]
    assert drops == sorted(drops, reverse=True)
    part = site.get("/api/runs", "search=dctcp&sort=drops&order=descending&offset=3&limit=2").json
    assert part["runs"] == found["runs"][3:5]
    ids = [row["run_id"] for row in site.get("/api/runs", "sort=run_id&order=ascending&limit=1000").json["runs"]]
    assert ids == sorted(ids)


def test_the_list_shows_in_what_runs_differ(work):
    def command(senders, size, rate):
        text = f"traffic.bursts.senders={senders}", f"traffic.bursts.bytes-each={size}", f"network.rate={rate}"
        ran("run", "small.toml", *(word for each in (*text, "run.duration=20ms") for word in ("--set", each)))

    command(9, "2KB", "2Gbps")
    command(4, "1KB", "1Gbps")
    rows = Site(work / "results").get("/api/runs", "sort=senders&order=ascending").json["runs"]
    shown = [(row["senders"], row["bytes_each"], row["rate"], row["buffer"]) for row in rows]
    assert shown == [(4, "1000B", "1Gbps", "20pkt"), (9, "2000B", "2Gbps", "20pkt")]


def test_a_new_run_is_in_the_list_and_one_that_has_gone_is_not(work):
    def command(seed):
        ran("run", "small.toml", "--set", f"run.seed={seed}", "--set", "run.duration=20ms")

    command(1)
    site = Site(work / "results")
    assert site.get("/api/runs").json["total"] == 1
    command(2)
    found = site.get("/api/runs").json
    assert found["total"] == 2
    gone = found["runs"][0]["run_id"]
    altered("results", "DELETE FROM runs WHERE id = ?", gone)
    assert site.get("/api/runs").json["total"] == 1
    assert site.get(f"/api/runs/{gone}").status == HTTPStatus.NOT_FOUND


def test_the_numbers_are_those_of_the_store(site, results, traced):
    run = Store(results).read(traced)
    told = site.get(f"/api/runs/{traced}").json
    assert told["manifest"] == run.manifest
    assert "Goodput" in " ".join(each["label"] for each in told["totals"])
    for name in ("flows", "queue-trace", "probes"):
        (table,) = site.get(f"/api/runs/{traced}/tables/{name}").json
        frame = run.table(name)
        assert [each["name"] for each in table["columns"]] == frame.columns
        assert (table["rows"], table["of"], table["name"]) == (len(frame), len(frame), name)
        for column in table["columns"]:
            values = column["values"]
            if column["kind"] == "label":
                values = [None if each is None else column["names"][each] for each in values]
            assert values == frame[column["name"]].to_list(), column["name"]
    start = next(each for each in table["columns"] if each["name"] == "time_s")
    assert (start["unit"], start["kind"]) == ("s", "number")
    (part,) = site.get(f"/api/runs/{traced}/tables/flows", "offset=1&limit=2").json
    assert (part["rows"], part["offset"], len(part["columns"][0]["values"])) == (2, 1, 2)
    outcome = site.get(f"/api/runs/{traced}/outcome").json
    assert [each["name"] for each in outcome] == run.tables


def test_downloads_are_the_files(site, results, traced):
    run = Store(results).read(traced)
    for path, stored_as, name in (
        ("tables/flows/parquet", "flows", f"{traced}-flows.parquet"),
        ("capture", "capture", f"{traced}-trace.pcapng"),
    ):
        got = site.get(f"/api/runs/{traced}/{path}")
        assert got.body == run.content(stored_as)
        assert got.headers["content-disposition"] == f'attachment; filename="{name}"'
    text = site.get(f"/api/runs/{traced}/tables/flows/csv").body.decode()
    header, units, *rows = csv.reader(io.StringIO(text))
    assert header == run.table("flows").columns
    assert units[0].startswith("# ")
    assert len(rows) == run.table("flows").height


def test_the_scenario_runs_again_to_the_same_result(site, traced, tmp_path):
    (tmp_path / "again.toml").write_bytes(site.get(f"/api/runs/{traced}/scenario").body)
    output = fanin.Scenario(tmp_path / "again.toml").simulate([])
    assert (
        json.loads(output.summary)["result_hash"]
        == site.get(f"/api/runs/{traced}").json["manifest"]["summary"]["result_hash"]
    )


def test_claims_are_those_of_the_ledger_by_paper_verdict_and_words(site, cli, results):
    every = json.loads(cli("claims", "sdtcp/fig9", "--out", str(results), "--json").out)
    got = site.get("/api/claims", "paper=sdtcp/fig9").json
    assert (got["found"], got["claims"]) == (len(every), every)
    assert site.get("/api/claims", "verdict=as-printed").json["found"] == 0
    assert 0 < site.get("/api/claims", "paper=sdtcp/fig9&search=collapse").json["found"] < len(every)
    assert site.get("/api/claims", "paper=none-such").status == HTTPStatus.NOT_FOUND


def test_a_sweep_and_an_experiment_have_their_data(site, results):
    (sweep,) = site.get("/api/sweeps").json["sweeps"]
    (runs,) = site.get(f"/api/sweeps/{sweep['id']}/tables/runs").json
    assert runs["rows"] == sweep["runs"]
    told = {each["key"]: each for each in site.get("/api/experiments").json["experiments"]}
    assert told["small"]["recorded"]
    assert not told["sdtcp/fig9"]["recorded"]
    record = site.get("/api/experiment", "name=small").json
    assert record["tables"] == ["runs", *(plot["name"] for plot in record["plots"])]
    for name in record["tables"]:
        (table,) = site.get("/api/experiment/table", f"name=small&table={name}").json
        assert table["rows"] > 0
    for name in ("../results/small", "runs", "", "sdtcp/fig9"):
        assert site.get("/api/experiment", f"name={name}").status == HTTPStatus.NOT_FOUND


ASKED = ["/api/ping", "/api/runs", "/api/openapi.json", "/api/claims", "/api/none-such", "/elsewhere"]


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    "sent", [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \xff"]
)
def test_nothing_is_told_without_the_token(site, path, sent):
    got = site.get(path, authorization=sent)
    assert (got.status, got.type) == (HTTPStatus.UNAUTHORIZED, "application/problem+json")
    assert b"results" not in got.body.replace(b"for results", b"")


@pytest.mark.parametrize(
    ("host", "names", "others"),
    [
        ("127.0.0.1", ["127.0.0.1", "localhost:1", "[::1]:8000", "LOCALHOST"], ["evil.example", "10.0.0.1", "", "a@b"]),
        ("192.168.1.5", ["192.168.1.5:8000"], ["localhost", "evil.example", "192.168.1.6"]),
        ("0.0.0.0", ["192.168.1.5:8000", "localhost", "[fe80::1]"], ["evil.example", "1.2.3.4.evil.example"]),
    ],
)
def test_a_name_that_another_site_points_here_is_refused(results, host, names, others):
    site = Site(results, host=host)
    assert {site.get("/api/ping", host=name).status for name in names} == {HTTPStatus.OK}
    assert {site.get(path, host=name).status for name in others for path in ("/", "/api/ping")} == {421}
    assert site.get("/api/ping", host=None).status == 421


def test_another_site_gets_nothing_even_with_the_token(site):
    assert site.get("/api/ping", origin="http://127.0.0.1:8000").status == HTTPStatus.OK
    assert site.get("/api/ping", sec_fetch_site="same-origin").status == HTTPStatus.OK
    for origin in ("http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:9999", ""):
        assert site.get("/api/ping", origin=origin).status == HTTPStatus.FORBIDDEN, origin
    for where in ("cross-site", "same-site"):
        assert site.get("/api/ping", sec_fetch_site=where).status == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GETS"])
def test_everything_is_only_read(site, method):
    got = site.get("/api/runs", method=method)
    assert (got.status, got.headers["allow"]) == (HTTPStatus.METHOD_NOT_ALLOWED, "GET")


def test_every_answer_has_the_headers_that_keep_it_apart(site, traced):
    paths = ["/", "/api/ping", "/none", f"/api/runs/{traced}/capture", f"/api/runs/{traced}/tables/flows/csv"]
    for got in [*map(site.get, paths), site.get("/api/ping", host="evil"), site.get("/api/ping", authorization=None)]:
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "'unsafe-eval'" not in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in got.headers
    assert site.get("/api/ping").headers["cache-control"] == "no-store"


def test_the_page_is_what_was_there_at_the_start(tmp_path, results):
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "assets" / "a.js").write_text("1")
    (folder / "assets" / "engine.wasm").write_bytes(b"\0asm")
    (folder / ".secret.js").write_text("2")
    (folder / "b.js").symlink_to(folder / "assets" / "a.js")
    (folder / "server.py").write_text("3")
    files = page.files(folder)
    (folder / "later.js").write_text("4")
    assert set(files) == {"/", "/index.html", "/assets/a.js", "/assets/engine.wasm"}
    site = Site(results, files)
    got = site.get("/", authorization=None)
    assert (got.status, got.type, got.body) == (200, "text/html", b"<!doctype html>")
    assert site.get("/", authorization=None, if_none_match=got.headers["etag"]).status == HTTPStatus.NOT_MODIFIED
    assert site.get("/assets/engine.wasm").type == "application/wasm"
    for path in (
        "/later.js",
        "/.secret.js",
        "/../page/index.html",
        "/assets",
        "/assets/",
        "//index.html",
        "/index.htm",
    ):
        assert site.get(path).status == HTTPStatus.NOT_FOUND, path


def test_without_the_page_it_says_how_to_build_it(site):
    got = site.get("/", authorization=None)
    assert got.status == HTTPStatus.NOT_FOUND
    assert b"make page" in got.body


PIECES = st.sampled_from(
    [
        *("..", ".", "/", "%2e%2e", "%00", "\0", "runs", "small", "flows", "etc/passwd", "\\", "\ud800", "é", "0" * 16),
        *(
            "manifest.json",
            "claims.json",
            "a" * 300,
            "-1",
            "1e9",
            "9" * 30,
            "NaN",
            "null",
            "[]",
            "\u0661",
        ),
    ]
)
VALUES = st.lists(PIECES | st.text(max_size=4), max_size=4).map("".join)


SLOW = ("/api/experiments", "/api/claims")
"""Routes of the ledger, which reads all experiments for each answer."""

ROUTES_ASKED = [path for path in api.ROUTES if path not in SLOW]


def values_of(parameter, known):
    """What is asked for: values as they are described, those that the folder has, and anything."""
    schema = parameter["schema"]
    fitting = [st.sampled_from(schema["enum"])] if "enum" in schema else []
    if schema.get("type") == "integer":
        fitting.append(st.integers(0, 50).map(str))
    if parameter["name"] in known:
        fitting.append(st.sampled_from(known[parameter["name"]]))
    return st.one_of(*fitting, VALUES)


@st.composite
def requests(draw, known):
    """A route of the description, the path that is asked for, and the query."""
    path = asked = draw(st.sampled_from(ROUTES_ASKED))
    query = []
    for parameter in DESCRIBED["paths"][path]["get"]["parameters"]:
        if parameter["in"] == "path":
            asked = asked.replace(f"{{{parameter['name']}}}", draw(values_of(parameter, known)))
        elif parameter["required"] or draw(st.booleans()):
            query.append(f"{parameter['name']}={draw(values_of(parameter, known))}")
    return path, asked, "&".join(query) + draw(st.sampled_from(["", "&", "&x=1", "&limit=1"]))


def test_no_request_makes_the_server_fail(site, traced):
    """Each route of the description with all kinds of values; the answer is one that the description lists."""
    sweep = site.get("/api/sweeps").json["sweeps"][0]["id"]
    known = {"run": [traced], "table": ["flows", "runs", "goodput-bps"], "sweep": [sweep], "name": ["small"]}
    answered = set()

    @FIXED
    @given(requests(known))
    def check(request):
        path, asked, query = request
        got = site.get(asked, query)
        assert got.status < 500, got.body
        if got.status == HTTPStatus.OK:
            answered.add(path)
        else:
            jsonschema.validate(got.json, DESCRIBED["components"]["schemas"]["Problem"])
        if asked.count("/") == path.count("/"):
            assert str(got.status) in {*DESCRIBED["paths"][path]["get"]["responses"], "404"}, got.body

    check()
    assert len(answered) > len(ROUTES_ASKED) / 2


@pytest.mark.parametrize("path", SLOW)
@pytest.mark.parametrize("query", ["paper=..", "verdict=x", "offset=-1", "limit=9999", "search=\ud800%00", "=&&;"])
def test_no_question_to_the_ledger_makes_the_server_fail(site, path, query):
    got = site.get(path, query)
    assert str(got.status) in DESCRIBED["paths"][path]["get"]["responses"]


def test_the_address_has_the_token_where_browsers_send_it_to_nobody():
    assert Served("127.0.0.1", 80, "t", None).address == "http://127.0.0.1:80/#token=t"
    assert Served("::1", 80, "t", None).address == "http://[::1]:80/#token=t"
    assert Served("0.0.0.0", 80, "t", None).address == "http://127.0.0.1:80/#token=t"
    assert [Served(host, 80, "t", None).is_local for host in ("localhost", "127.0.0.2", "10.0.0.1", "host")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.fixture
def started(results):
    """The command as users start it."""
    command = [sys.executable, "-m", "fanin", "serve", "--out", str(results), "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        text = ""
        while not text.endswith("}\n"):
            text += (line := process.stdout.readline())
            assert line, process.stderr.read()
        yield process, json.loads(text)
        process.kill()


def test_the_command_serves_until_it_is_ended(started):
    process, about = started
    assert about["address"] == f"http://127.0.0.1:{about['port']}/#token={about['token']}"
    url = f"http://127.0.0.1:{about['port']}/api/runs?limit=1"
    with urllib.request.urlopen(
        urllib.request.Request(url, headers={"Authorization": f"Bearer {about['token']}"})
    ) as got:
        assert json.load(got)["total"] == 19
        assert "uvicorn" not in got.headers.get("server", "")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(url)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert about["token"] not in said
    assert "/api" not in said, "requests are written nowhere"


MALFORMED = [
    b"",
    b"\0" * 100,
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /api/ping HTTP/1.1\r\n\r\n",
    b"GET /api/ping HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
    b"GET /api/ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /%ff%fe/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://evil/api/ping HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/ping HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


def test_malformed_requests_are_refused_and_harm_nobody_else(started):
    _, about = started
    for sent in MALFORMED:
        with socket.create_connection(("127.0.0.1", about["port"]), timeout=30) as connection:
            answer = b""
            # What is not read may end the connection before it is answered.
            with contextlib.suppress(ConnectionError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(65536):
                    answer += piece
        assert re.match(rb"(HTTP/1.1 4\d\d |$)", answer), (sent[:80], answer[:200])
        assert b"root:" not in answer
    url = f"http://127.0.0.1:{about['port']}/api/ping"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {about['token']}"})
    with urllib.request.urlopen(request) as got:
        assert got.status == HTTPStatus.OK


def test_two_servers_have_two_tokens(results, started):
    _, about = started
    assert len(about["token"]) >= 43
    assert about["token"] != TOKEN


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--out", "none-such"], 3, "none-such: no such folder"),
        (["--host", "none-such.invalid", "--out", "."], 3, "--host"),
        (["--port", "70000", "--out", "."], 2, ""),
    ],
)
def test_what_impossible_served_is_said_in_a_line(cli, work, words, code, said):
    got = cli("serve", "--no-browser", *words)
    assert got.code == code
    assert said in got.err


def test_without_the_packages_it_says_what_to_install(work):
    code = "import sys; sys.modules['starlette'] = None; from fanin.cli import main; main(['serve'])"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=60)
    assert got.returncode == 3
    assert f"{sys.executable} -m pip install starlette uvicorn\n" in got.stderr
    assert Path("results").exists() is False
