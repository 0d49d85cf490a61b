"""The service: everything around its routes, and how it is put together.

    settings     what the service is told: a file, the environment, the command line
    laws         what settings must be
    logs         one JSON object a line, without secrets
    metrics      what Prometheus is told
    problems     errors as problem+json
    auth         keys, roles, rates: the gate
    connections  how many, how large, how slow they may be
    guards       the one middleware: request ids, sizes, times, log lines, headers
    routing      routes that declare their role, and read bodies by the letter of JSON
    docs         the OpenAPI document, and a page made of it
    workers      several processes at one address

An application is assembled in this order:

    metrics = Metrics()
    gate = Gate(keys, required=settings.keys_required, limiter=Limiter(settings.rate, settings.burst))
    app = FastAPI(title=..., version=..., openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_middleware(Guard, gate=gate, metrics=metrics, max_body_bytes=settings.max_body_bytes)
    problems.install(app)
    routes.attach(app)  # for each Routes
    describe(app, keys_required=settings.keys_required)  # app.openapi() then tells roles and problems
    assert not unguarded(app)

`keys` returns the keys that are in the journal, by id. Routes are declared with their role, and those of FastAPI itself
are off, so that /openapi.json and /docs are routes with a role like all others:

    routes = Routes("/v1", tags=["users"])

    @routes.post("/users/{user}/queries", role="decide", problems=[409])
    async def hear(user: UserId, query: Query, request: Request) -> Heard:
        caller = visit_of(request).caller

The server is started without its own log of requests, which would hold the ids of users, and with bounds on what
connections may take:

    uvicorn.Server(uvicorn.Config(app, **server_options(settings))).run()

With more than one worker, `run_workers` starts processes that do this, inside `with shared_metrics():`, and the
lifespan of each worker ends with `druthers.service.metrics.leave()`.

Where keys are off, a test's client must call the service as localhost (`http://localhost`).
"""
