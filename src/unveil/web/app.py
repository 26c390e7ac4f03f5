"""Server routes: pages and actions, without computation."""

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from unveil.web import RefusedError
from unveil.web.guard import READS, ClosingResponse, Guard, Keys, plain_answer, wants_page
from unveil.web.jobs import Jobs
from unveil.web.uploads import Upload, Uploads

#: A form has no more letters than this, and takes no longer to arrive, in seconds.
_LARGEST_FORM = 1_000_000
_FORM_SECONDS = 30.0
_SENTENCES = {
    404: "This page does not exist. Start at the list of tasks.",
    405: "This is not possible here. Start at the list of tasks.",
    500: "unveil failed. The terminal where it was started shows the error.",
}


@dataclass(frozen=True, kw_only=True)
class State:
    """State shared by the pages."""

    keys: Keys
    port: int
    uploads: Uploads
    jobs: Jobs


def make_app(state: State) -> ASGIApp:
    """Return the application, behind its guard."""
    routes = [
        Route("/", partial(_home, state), methods=["GET"]),
        Route("/list", partial(_listing, state), methods=["GET"]),
        Route("/assets/{name}", _asset, methods=["GET"]),
        Route("/files", partial(_files, state), methods=["GET", "PUT"]),
        Route("/files/{file}", partial(_remove_file, state), methods=["DELETE"]),
        Route("/files/{file}/look", partial(_look, state), methods=["POST"]),
        Route("/jobs", partial(_submit, state), methods=["POST"]),
        Route("/jobs/{job}", partial(_job, state), methods=["GET", "DELETE"]),
        Route("/jobs/{job}/state", partial(_job_state, state), methods=["GET"]),
        Route("/jobs/{job}/report", partial(_report, state), methods=["GET"]),
        Route("/jobs/{job}/answer.json", partial(_answer, state), methods=["GET"]),
        Route("/jobs/{job}/made/{name}", partial(_made, state), methods=["GET"]),
        Route("/{question}", partial(_question, state), methods=["GET"]),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        state.jobs.start()
        try:
            yield
        finally:
            await state.jobs.stop()

    handlers: Mapping[Any, Any] = {RefusedError: _refused, HTTPException: _http_error, Exception: _mistake}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, keys=state.keys, port=state.port)


async def _home(state: State, request: Request) -> Response:
    from unveil.web import pages

    shown = partial(pages.home, state.jobs.views(), state.uploads.all(), root=_root(request))
    return HTMLResponse(await asyncio.to_thread(shown))


async def _listing(_state: State, request: Request) -> Response:
    from unveil.web import pages

    return HTMLResponse(await asyncio.to_thread(pages.listing, root=_root(request)))


async def _question(state: State, request: Request) -> Response:
    """Show a form, prefilled from a job if given (``?again=ID``).

    With ``next=1`` it goes on from there: what was done joins what was done before, and something else can be chosen.
    Going back from a job leads there, also when the job has been removed meanwhile: then the form is empty.
    """
    from unveil.questions import QUESTIONS, question
    from unveil.web import pages
    from unveil.web.questions import going_on

    name = request.path_params["question"]
    if name not in QUESTIONS:
        raise RefusedError(404, _SENTENCES[404])
    again = request.query_params.get("again")
    view = state.jobs.view(again) if again is not None and again in state.jobs else None
    if view is not None and view.question != name:
        raise RefusedError(404, _SENTENCES[404])
    if view is not None and request.query_params.get("next") == "1":
        view = replace(view, settings=going_on(question(name), view.settings))
    return HTMLResponse(await asyncio.to_thread(pages.question, question(name), view, root=_root(request)))


async def _files(state: State, request: Request) -> Response:
    """List the files, or receive one as the request body."""
    uploads = state.uploads
    if request.method != "PUT":
        listed = [_told(each) for each in uploads.all()]
        return JSONResponse({"files": listed, "limit": uploads.limits.file, "room": uploads.room})
    if request.headers.get("content-encoding", "identity") != "identity":
        raise RefusedError(415, "A file is sent as it is, not compressed on the way. Use the pages of this app")
    if request.headers.get("content-type", "").startswith(("multipart/", "application/x-www-form-urlencoded")):
        raise RefusedError(415, "A file is sent as it is, not inside a form. Use the pages of this app")
    declared = request.headers.get("content-length", "")
    size = int(declared) if declared.isascii() and declared.isdigit() else None
    try:
        upload = await uploads.receive(request.query_params.get("name", ""), request.stream(), declared=size)
    except ClientDisconnect:
        raise RefusedError(400, "The file is incomplete and was not stored. Send it again") from None
    return JSONResponse(_told(upload), 201)


async def _remove_file(state: State, request: Request) -> Response:
    upload = state.uploads.find(request.path_params["file"])
    if state.jobs.uses(upload):
        raise RefusedError(409, "A running job needs this file. Wait for it, or cancel it")
    state.uploads.remove(upload.id)
    return JSONResponse({})


async def _look(state: State, request: Request) -> Response:
    upload = state.uploads.find(request.path_params["file"])
    return JSONResponse(await state.uploads.seen(upload, state.jobs.look))


async def _submit(state: State, request: Request) -> Response:
    from unveil.questions import QUESTIONS, question
    from unveil.web.questions import check

    asked = await _json(request)
    name = str(asked.get("question", ""))
    if name not in QUESTIONS:
        raise RefusedError(400, "Unknown task. Start at the list of tasks")
    files = _uploads_of(state, asked.get("files", {}))
    settings = asked.get("settings", {})
    if not isinstance(settings, dict):
        raise RefusedError(400, "The settings are not given by field. Use the pages of this app")
    errors = await asyncio.to_thread(check, question(name), files, settings)
    if errors:
        return JSONResponse({"errors": errors, "error": "Some fields have errors."}, 400)
    return JSONResponse({"id": state.jobs.submit(name, files, settings)}, 201)


async def _job(state: State, request: Request) -> Response:
    """Show, cancel, or remove a job (``?forget=1``)."""
    from unveil.web import pages

    identity = request.path_params["job"]
    if request.method == "DELETE":
        if request.query_params.get("forget") == "1":
            await state.jobs.forget(identity)
            return JSONResponse({})
        await state.jobs.cancel(identity)
        return JSONResponse(state.jobs.view(identity).to_dict())
    return HTMLResponse(await asyncio.to_thread(pages.job, state.jobs.view(identity), root=_root(request)))


async def _job_state(state: State, request: Request) -> Response:
    return JSONResponse(state.jobs.view(request.path_params["job"]).to_dict())


async def _report(state: State, request: Request) -> Response:
    question, path = state.jobs.result(request.path_params["job"], "report.html")
    headers = {"content-security-policy": await asyncio.to_thread(report_policy, path)}
    headers["x-frame-options"] = "SAMEORIGIN"
    # A page that is nobody's own cannot be opened in a group of its own.
    headers["cross-origin-opener-policy"] = "unsafe-none"
    headers |= _saved_as(request, f"unveil-{question}.html")
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


async def _answer(state: State, request: Request) -> Response:
    question, path = state.jobs.result(request.path_params["job"], "answer.json")
    return FileResponse(path, media_type="application/json", headers=_saved_as(request, f"unveil-{question}.json"))


async def _made(state: State, request: Request) -> Response:
    """Send a result file, always as a download."""
    name = request.path_params["name"]
    _, path = state.jobs.result(request.path_params["job"], name)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return FileResponse(path, media_type="text/csv; charset=utf-8", headers=headers)


async def _asset(request: Request) -> Response:
    """Send a package asset."""
    from unveil.web import pages

    name = request.path_params["name"]
    if name not in pages.ASSETS:
        raise RefusedError(404, _SENTENCES[404])
    return Response(pages.asset(name), headers={"content-type": pages.ASSETS[name]})


def report_policy(report: Path) -> str:
    """Return the content policy of a report, isolated from this server.

    A report holds texts from tables that anybody may have made. Should one of them ever become a script, then it runs
    in a page that is nobody's own, without the cookie and without a way to anywhere.
    """
    with report.open("rb") as stream:
        top = stream.read(4096)
    found = re.search(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', top)
    own = html.unescape(found[1].decode("latin-1")) if found else ""
    if not own.startswith("default-src 'none';") or not own.isprintable():
        own = "default-src 'none'"
    return f"{own}; frame-ancestors 'self'; sandbox allow-scripts allow-modals allow-downloads"


def _root(request: Request) -> str:
    """Return the private path prefix of all links."""
    return str(request.scope["root_path"])


def _saved_as(request: Request, name: str) -> dict[str, str]:
    saved = request.query_params.get("download") == "1"
    return {"content-disposition": f'attachment; filename="{name}"'} if saved else {}


def _told(upload: Upload) -> dict[str, Any]:
    return {"id": upload.id, "name": upload.name, "size": upload.size}


def _uploads_of(state: State, given: Any) -> dict[str, Upload | list[Upload]]:
    if not isinstance(given, dict):
        raise RefusedError(400, "The files are not given by field. Use the pages of this app")
    find = state.uploads.find
    return {
        str(name): [find(str(each)) for each in value] if isinstance(value, list) else find(str(value))
        for name, value in given.items()
        if value
    }


async def _json(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(415, "Forms are sent as JSON here. Use the pages of this app")
    body = bytearray()
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > _LARGEST_FORM:
                    raise RefusedError(413, "The form is too large. Use the pages of this app")
        content = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except TimeoutError:
        raise RefusedError(408, "The form arrived too slowly. Send it again") from None
    except ClientDisconnect:
        raise RefusedError(400, "The form is incomplete. Send it again") from None
    except (ValueError, RecursionError):
        raise RefusedError(400, "The form is not valid JSON. Use the pages of this app") from None
    if not isinstance(content, dict):
        raise RefusedError(400, "The form is not a JSON object. Use the pages of this app")
    return content


def _no_number(text: str) -> None:
    raise ValueError(text)


def _refused(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, RefusedError) else 500
    return _said(request, status, str(error))


def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _said(request, status, _SENTENCES.get(status, _SENTENCES[500]))


def _mistake(request: Request, _: Exception) -> Response:
    # Perhaps it was the pages that failed, so this one needs none of them.
    return plain_answer(request.scope, 500, _SENTENCES[500])


def _said(request: Request, status: int, sentence: str) -> Response:
    """Return an error as page or JSON, without internals."""
    answer = Response if request.method in READS else ClosingResponse
    if not wants_page(request.scope):
        return answer(json.dumps({"error": sentence}), status, media_type="application/json")
    from unveil.web import pages

    return answer(pages.error(status, sentence, root=_root(request)), status, media_type="text/html")
