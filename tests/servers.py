"""A server of the chat completions protocol over loopback that answers as a script says: well, badly, late, never."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from druthers.language import make_parser

RUBBISH = (
    "I would say the price.",
    "",
    '{"wanted": [{"objective": "pri',
    '{"wanted": 3}',
    '{"wanted": ["price", "service"]}',
    '{"wanted": [{"objective": "banana", "quote": "matters"}], "dismissed": []}',
    "[" * 5_000,
    '{"ranking": [0, 1, 2]}',
)


def said(request):
    """Return the text between the marks of a request, or None where they are not as they should be."""
    found = re.fullmatch(r"(=== \w+ ===)\n(.*)\n\1", request["messages"][1]["content"], re.DOTALL)
    return found[2] if found else None


@cache
def lexicon(*names):
    return make_parser("lexicon", objectives=names)


def good(request):
    """Answer as a model would that reads by word lists and writes in plain words."""
    if '"query"' in request["messages"][0]["content"]:
        return json.dumps({"query": written(request)})
    return read(request)


def written(request):
    """Return a text for the wishes of a request, or an empty phrase if its prompt asks for a vague one."""
    asked = json.loads(request["messages"][1]["content"])
    if "vague" in request["messages"][0]["content"]:
        return f"Surprise me, for the {asked['id']}th time."
    return f"I want {', then '.join(asked['wishes'])}."


def read(request):
    """Return a reply for the text of a request, read with the objectives that its prompt lists."""
    names = re.findall(r"^- ([^:(\n]+?)(?: *[:(].*)?$", request["messages"][0]["content"], re.MULTILINE)
    reading = lexicon(*names).read(said(request))
    lists = {"wanted": [], "dismissed": []}
    for role, chosen in (("wanted", reading.ranking), ("dismissed", reading.dismissed)):
        for index in chosen:
            quote = next(piece.text for piece in reading.evidence if piece.objective == index)
            lists[role].append({"objective": names[index], "quote": quote})
    return json.dumps(lists)


class Server(ThreadingHTTPServer):
    """Speaks the chat completions protocol; `script(request, number)` gives a text, or a status and a body, or None."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.requests, self.statuses = script, [], Counter()
        self.lock, self.released = threading.Lock(), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def kill(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that has gone away is no news."""


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.requests)
            self.server.requests.append((self.path, request, self.headers.get("Authorization")))
        answer = self.server.script(request, number)
        if answer is None:
            return
        if isinstance(answer, str):
            message = {"role": "assistant", "content": answer}
            answer = (200, completion(message))
        status, body, *headers = answer
        with self.server.lock:
            self.server.statuses[status] += 1
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Keep the terminal clean."""


def completion(message, finish="stop"):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
