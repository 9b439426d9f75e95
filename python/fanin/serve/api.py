"""The read-only API: routes, and what their parameters mean. ``openapi.json`` describes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

import fanin
from fanin.claims.verdicts import VERDICTS
from fanin.errors import FaninError, NotFoundError
from fanin.results.tables import Table
from fanin.serve import page, tables
from fanin.serve.answers import ProblemError, as_json, download, parts, problem
from fanin.serve.listing import COLUMNS
from fanin.serve.results import Results

DESCRIPTION = Path(__file__).with_name("openapi.json")

_MAX_ENTRIES = 1000
"""Entries of a list in one answer."""

_MAX_CHARACTERS = 1000
"""So much of a parameter is read."""

_USUAL = 100

_LARGEST = 1 << 53

_PARQUET = "application/vnd.apache.parquet"
_PCAPNG = "application/x-pcapng"

Answer = Callable[[Results, Request], Response]


def _ping(results: Results, _: Request) -> Response:
    engine = fanin.engine_version()
    return as_json({"fanin": fanin.__version__, "engine": engine, "folder": str(results.root)})


def _openapi(_: Results, __: Request) -> Response:
    return Response(DESCRIPTION.read_bytes(), media_type="application/json")


def _runs(results: Results, request: Request) -> Response:
    sort = _word(request, "sort", COLUMNS, "finished")
    down = _word(request, "order", ("ascending", "descending"), "descending") == "descending"
    offset, limit = _part(request)
    return as_json(results.runs(_text(request, "search"), sort, descending=down, offset=offset, limit=limit))


def _run(results: Results, request: Request) -> Response:
    return as_json(results.run(request.path_params["run"]))


def _scenario(results: Results, request: Request) -> Response:
    text = results.scenario(request.path_params["run"])
    return PlainTextResponse(text.encode(errors="replace"))


def _outcome(results: Results, request: Request) -> Response:
    """Summary and tables in one answer, as a run in the page has them."""
    run = results.stored(request.path_params["run"])
    limit = _number(request, "limit", tables.MOST_ROWS, tables.MOST_ROWS)
    return as_json([tables.columns(Table(table, run), limit=limit) for table in run.tables])


def _capture(results: Results, request: Request) -> Response:
    name = request.path_params["run"]
    return download(results.capture(name), f"{name}-trace.pcapng", _PCAPNG)


def _sweeps(results: Results, _: Request) -> Response:
    return as_json(results.sweeps())


def _sweep(results: Results, request: Request) -> Response:
    return as_json(results.sweep(request.path_params["sweep"]))


def _experiments(results: Results, _: Request) -> Response:
    return as_json({"experiments": results.experiments()})


def _experiment(results: Results, request: Request) -> Response:
    return as_json(results.experiment(_text(request, "name")))


def _claims(results: Results, request: Request) -> Response:
    verdicts = {word.slug: word.name for word in VERDICTS}
    wanted = _word(request, "verdict", ("", *verdicts), "")
    paper = _text(request, "paper") or None
    return as_json(results.claims(paper, verdicts.get(wanted), _text(request, "search"), *_part(request)))


Found = Callable[[Results, Request], tuple[Table, str]]
"""Finds a table, and its name as a download without the ending."""


def _of_run(results: Results, request: Request) -> tuple[Table, str]:
    run, table = request.path_params["run"], request.path_params["table"]
    return results.of_run(run, table), f"{run}-{table}"


def _of_sweep(results: Results, request: Request) -> tuple[Table, str]:
    sweep, table = request.path_params["sweep"], request.path_params["table"]
    return results.of_sweep(sweep, table), f"{sweep}-{table}"


def _of_experiment(results: Results, request: Request) -> tuple[Table, str]:
    table = _text(request, "table")
    return results.of_experiment(_text(request, "name"), table), table


def _columns(find: Found) -> Answer:
    def answer(results: Results, request: Request) -> Response:
        table, _ = find(results, request)
        offset = _number(request, "offset", 0, _LARGEST)
        limit = _number(request, "limit", tables.MOST_ROWS, tables.MOST_ROWS)
        return as_json([tables.columns(table, offset, limit)])

    return answer


def _csv(find: Found) -> Answer:
    def answer(results: Results, request: Request) -> Response:
        table, name = find(results, request)
        return parts(tables.csv(table), f"{name}.csv", "text/csv; charset=utf-8")

    return answer


def _file(find: Found) -> Answer:
    def answer(results: Results, request: Request) -> Response:
        table, name = find(results, request)
        if table.path.suffix == ".csv":
            raise ProblemError(404, "Not found", "the data of a plot are CSV")
        return download(table.content(), f"{name}.parquet", _PARQUET)

    return answer


ROUTES: dict[str, Answer] = {
    "/api/openapi.json": _openapi,
    "/api/ping": _ping,
    "/api/runs": _runs,
    "/api/runs/{run}": _run,
    "/api/runs/{run}/scenario": _scenario,
    "/api/runs/{run}/outcome": _outcome,
    "/api/runs/{run}/capture": _capture,
    "/api/runs/{run}/tables/{table}": _columns(_of_run),
    "/api/runs/{run}/tables/{table}/csv": _csv(_of_run),
    "/api/runs/{run}/tables/{table}/parquet": _file(_of_run),
    "/api/sweeps": _sweeps,
    "/api/sweeps/{sweep}": _sweep,
    "/api/sweeps/{sweep}/tables/{table}": _columns(_of_sweep),
    "/api/sweeps/{sweep}/tables/{table}/csv": _csv(_of_sweep),
    "/api/sweeps/{sweep}/tables/{table}/parquet": _file(_of_sweep),
    "/api/experiments": _experiments,
    "/api/experiment": _experiment,
    "/api/experiment/table": _columns(_of_experiment),
    "/api/experiment/csv": _csv(_of_experiment),
    "/api/experiment/parquet": _file(_of_experiment),
    "/api/claims": _claims,
}
"""Every path of the API. Names of experiments have slashes, so they are in the query."""


def application(results: Results, files: dict[str, page.File]) -> Starlette:
    """The page and the API of a results folder."""
    routes = [Route(path, _served(results, answer), methods=["GET"]) for path, answer in ROUTES.items()]

    async def file(request: Request) -> Response:
        return page.answer(files, request)

    routes += [Route(path, file, methods=["GET"]) for path in {"/", *files}]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _of_routing, Exception: _of_a_defect})
    # No path leads anywhere else, not even to the same with a slash.
    app.router.redirect_slashes = False
    return app


def _served(results: Results, answer: Answer) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return answer(results, request)
        except ProblemError as error:
            return problem(error.status, error.title, error.detail)
        except NotFoundError as error:
            return problem(404, "Not found", str(error))
        except FaninError as error:
            return problem(422, "Not readable", str(error))
        except OSError as error:
            return problem(422, "Not readable", f"a file cannot be read: {error.strerror or error}")

    return endpoint


async def _of_routing(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return problem(status, "Not found", "there is nothing at this address")


async def _of_a_defect(_: Request, __: Exception) -> Response:
    return problem(500, "Internal error", "a defect of fanin; the terminal of fanin serve has the details")


def _text(request: Request, name: str) -> str:
    return request.query_params.get(name, "")[:_MAX_CHARACTERS]


def _word(request: Request, name: str, words: tuple[str, ...], usual: str) -> str:
    found = request.query_params.get(name, usual)
    if found not in words:
        raise ProblemError(400, "Bad request", f"{name} is one of {', '.join(filter(None, words))}")
    return found


def _part(request: Request) -> tuple[int, int]:
    """Offset and limit of a list."""
    return _number(request, "offset", 0, _LARGEST), _number(request, "limit", _USUAL, _MAX_ENTRIES)


def _number(request: Request, name: str, usual: int, most: int) -> int:
    text = request.query_params.get(name, str(usual))
    with suppress(ValueError):
        if text.isascii() and text.isdecimal() and (found := int(text)) <= most:
            return found
    raise ProblemError(400, "Bad request", f"{name} is a whole number up to {most:,}")
