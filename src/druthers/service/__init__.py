"""The service: an advisor behind HTTP, for many requests at once.

    settings     what the service is told: a file, the environment, the command line
    app          how all of it is put together, and served
    connections  how many, how large, how slow they may be
    guards       the one middleware: request ids, sizes, times, log lines, headers
    auth         keys, roles, rates: the gate
    routing      routes that declare their role, and read bodies by the letter of JSON
    schemas      what comes in; answers: what goes out; problems: errors as problem+json
    routes       what users want; personalizer: the same as clients of Azure Personalizer ask for it
    desk         drives the operations of the advisor, and writes for all requests together; readers: its threads
    operating    what who runs it looks at and changes; overview: how that is put together
    page         the page in a browser, with a demo and a laboratory, each with a process of its own
    docs         the OpenAPI document, and a page made of it; shapes: what its schemas say
    metrics      what Prometheus is told
    logs         one JSON object a line, without secrets
    workers      several processes at one address

Routes of FastAPI itself are off, so that /openapi.json and /docs are routes with a role like all others. Where keys are
off, a test's client must call the service as localhost (`http://localhost`).
"""
