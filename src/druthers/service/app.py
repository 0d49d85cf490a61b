"""The application: settings in, a service out."""

import gc
import logging
import logging.config
import resource
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from typing import Any

import uvicorn
from fastapi import FastAPI

from druthers import __version__
from druthers.advisor import Advisor
from druthers.advisor.asking import Asking
from druthers.advisor.ledger import Ledger, ledger_of
from druthers.advisor.updating import first_catalog
from druthers.errors import DruthersError, InvalidSetting
from druthers.service import problems
from druthers.service.auth import Gate, Limiter
from druthers.service.connections import BoundedProtocol
from druthers.service.desk import Desk
from druthers.service.docs import describe
from druthers.service.guards import Guard, unguarded
from druthers.service.laboratory import make_demo, make_laboratory
from druthers.service.logs import NAME, log_config
from druthers.service.metrics import Metrics, leave, shared_metrics
from druthers.service.operating import make_operating
from druthers.service.personalizer import make_personalizer
from druthers.service.routes import make_routes
from druthers.service.schemas import Schemas
from druthers.service.settings import Settings
from druthers.service.workers import run_workers, tell_problem, tell_ready
from druthers.stores import open_store

_log = logging.getLogger(NAME)

OWN_FILES = 100  # that a process has open beside its connections

ABOUT = """Say what you want, get what fits, tell how it was. A sentence becomes a ranking of objectives, feedback fixes
what rankings cannot tell, and every answer says why."""


def make_app(settings: Settings) -> FastAPI:
    """Return the service; its journal is opened, and folded, at once."""
    advisor, ledger = _open(settings)
    metrics = Metrics()
    desk = Desk(advisor, settings, metrics, ledger)
    demo, player = make_demo(desk)
    lab, runner = make_laboratory(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await desk.start()
        gc.collect()
        gc.freeze()  # what is there now stays: without this, every full collection looks through all of it
        _log.info("serving at position %d with %d items", desk.fold.position, len(desk.fold.items))
        yield
        player.close()
        runner.stop()
        await desk.stop()
        gc.unfreeze()
        leave()

    app = FastAPI(
        title="druthers",
        summary="A recommender that listens",
        description=ABOUT,
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    gate = Gate(desk.keys, required=settings.keys_required, limiter=Limiter(settings.rate, settings.burst))
    app.add_middleware(Guard, gate=gate, metrics=metrics, max_body_bytes=settings.max_body_bytes)
    problems.install(app)
    own = make_routes(desk, settings, Schemas(advisor.fold.catalog, settings))
    views = demo, *make_operating(desk, settings), lab
    for routes in (*own, make_personalizer(desk, settings), *views):
        routes.attach(app)
    describe(app, keys_required=settings.keys_required)
    if bare := unguarded(app):
        raise RuntimeError(f"every route must be guarded, but {bare} are not")
    app.state.desk = desk
    return app


def _open(settings: Settings) -> tuple[Advisor, Ledger | None]:
    """Return the advisor over the journal, its kernels ready, and the ledger of what must never come back."""
    with ExitStack() as failing:
        store = failing.enter_context(open_store(settings.store))
        ledger = ledger_of(store, settings.ledger)
        if ledger is not None:
            if again := ledger.apply(store):
                _log.warning("an older journal was put back: %d erasures and revocations were done again", again)
            ledger.follow(store)
        advisor = Advisor(
            settings.catalog or first_catalog(store),
            store=store,
            policy=settings.policy,
            parser=settings.parser,
            policy_settings={"exploration": settings.exploration, **settings.policy_settings},
            population=settings.population,
            asking=Asking(settings.question_price, settings.question_budget),
            parser_settings=_parser_settings(settings),
        )
        _log.info("preparing: what is not in the cache is compiled, for a minute where it is empty")
        advisor.compile()
        failing.pop_all()
    return advisor, ledger


def _parser_settings(settings: Settings) -> dict[str, Any]:
    """Return what the parser is told: models are loaded beside, and time is left to read without a language model."""
    half = {"timeout": settings.reading_seconds / 2, "retries": 0} if settings.parser == "llm" else {}
    return {"background": True, **half, **settings.parser_settings}


def server_options(settings: Settings) -> dict[str, Any]:
    """Return how uvicorn is to serve: with bounds on what connections may take."""
    most = _allow_connections(settings.max_connections)
    return {
        "host": settings.host,
        "port": settings.port,
        "workers": 1,  # by itself, uvicorn would look for WEB_CONCURRENCY
        "log_config": log_config(settings.log_level),
        "access_log": False,
        "server_header": False,
        "ws": "none",
        "proxy_headers": False,
        "loop": "uvloop",
        "http": partial(BoundedProtocol, most=most, settings=settings),
        "timeout_graceful_shutdown": 10,
    }


def _allow_connections(wanted: int) -> int:
    """Let this process, and those that it starts, have so many connections, which are open files; return how many."""
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if usual != resource.RLIM_INFINITY and usual < wanted + OWN_FILES:
        usual = wanted + OWN_FILES if most == resource.RLIM_INFINITY else min(wanted + OWN_FILES, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))
        wanted = min(wanted, usual - OWN_FILES)
    return max(wanted, 1)


def _check_address(host: str, port: int) -> None:
    """Refuse an address at which somebody listens already, before a journal is opened."""
    family = AF_INET6 if ":" in host else AF_INET
    try:
        with socket(family, SOCK_STREAM) as here:
            here.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
            here.bind((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise InvalidSetting(
            f"a service needs an address of its own, but at {host}, port {port}: {reason}; choose another `port`"
        ) from None


def serve(settings: Settings) -> None:
    """Serve until told to stop."""
    _check_address(settings.host, settings.port)
    logging.config.dictConfig(log_config(settings.log_level))
    if settings.workers == 1:
        while _run(make_app(settings), settings):
            _log.info("starting over")
        return
    with uvicorn.Config("", **server_options(settings)).bind_socket() as address, shared_metrics():
        run_workers(settings.workers, partial(_work, settings), address)


def _work(settings: Settings, address: socket, line: Connection) -> None:
    """Serve as one of several processes."""
    logging.config.dictConfig(log_config(settings.log_level))
    try:
        app = make_app(settings)
    except DruthersError as problem:
        tell_problem(line, problem)
        return
    tell_ready(line)
    _run(app, settings, [address])


def _run(app: FastAPI, settings: Settings, sockets: list[socket] | None = None) -> bool:
    """Serve until told to stop; return whether it has to start over: a process serves one edition of a catalog."""
    server = uvicorn.Server(uvicorn.Config(app, **server_options(settings)))

    def leave() -> None:
        server.should_exit = True

    app.state.desk.when_outdated = leave
    with suppress(KeyboardInterrupt):
        server.run(sockets)
    outdated: bool = app.state.desk.outdated
    return outdated
