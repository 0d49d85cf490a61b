"""The service: an advisor behind HTTP, for many requests at once.

    settings     what the service is told: a file, the environment, the command line
    app          how all of it is put together, and served
    connections  how many, how large, how slow they may be
    guards       the one middleware: request ids, sizes, times, log lines, headers; routes that declare their role, and
                 read bodies by the letter of JSON
    auth         keys, roles, rates: the gate
    schemas      what comes in; answers: what goes out; problems: errors as problem+json
    routes       what users want; personalizer: the same as clients of Azure Personalizer ask for it
    desk         drives the operations of the advisor, and writes for all requests together; readers: its threads
    operating    what who runs it looks at and changes, and the page in a browser; overview: how that is put together
    laboratory   experiments and a guest to watch; player: the processes that play them
    docs         the OpenAPI document, and a page made of it
    metrics      what Prometheus is told
    logs         one JSON object a line, without secrets
    workers      several processes at one address

Routes of FastAPI itself are off, so that /openapi.json and /docs are routes with a role like all others. Where keys are
off, a test's client must call the service as localhost (`http://localhost`).
"""
