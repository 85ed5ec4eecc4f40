"""A scripted OpenAI-compatible server on loopback: real HTTP, no model.

    with ScriptedChatServer([rate_limited("1"), chat({"kinds": ["episodic"]})]) as server:
        Endpoint(server.url, ...)          # asks
        assert len(server.requests) == 2

A script is a sequence, one entry a request (a further request is answered 599), or a function of the request. The
server runs in a thread of its own, so that it serves any event loop and other processes too.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

EXHAUSTED = 599
"""Status of a request that the script has no entry for."""


@dataclass(frozen=True)
class ChatRequest:
    """A request as it arrived; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def system(self) -> str:
        """The system message of a chat request."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The first user message of a chat request."""
        return str(self.body["messages"][1]["content"])

    @property
    def schema(self) -> str:
        """Name of the schema asked for by `response_format`, or empty."""
        form = self.body.get("response_format", {})
        return str(form.get("json_schema", {}).get("name", ""))


@dataclass(frozen=True)
class Scripted:
    """One answer. With `hang` nothing is sent until the server closes."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False


Script = Sequence[Scripted] | Callable[[ChatRequest], Scripted]


def chat(answer: object, **completion: Any) -> Scripted:
    """A completion whose content is the JSON of `answer`; keywords as in `chat_text`."""
    return chat_text(json.dumps(answer), **completion)


def chat_text(
    content: str | None, *, finish: str = "stop", refusal: str | None = None, tokens: tuple[int, int] | None = (11, 7)
) -> Scripted:
    """A completion with this content; `tokens` are prompt and completion tokens, None leaves `usage` out."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    completion: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }
    if tokens is not None:
        sent, made = tokens
        completion["usage"] = {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
    return Scripted(body=json.dumps(completion).encode())


def embeddings(vectors: Sequence[Sequence[float]]) -> Scripted:
    """An embeddings answer, given in reverse order of index."""
    data = [{"object": "embedding", "index": index, "embedding": list(v)} for index, v in enumerate(vectors)]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    answer = {"object": "list", "model": "scripted", "data": data[::-1], "usage": usage}
    return Scripted(body=json.dumps(answer).encode())


def failing(status: int, message: str = "no", *, retry_after: str | None = None) -> Scripted:
    """An error in the API's form."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Scripted(status=status, body=json.dumps({"error": {"message": message}}).encode(), headers=headers)


def rate_limited(retry_after: str | None = None) -> Scripted:
    """A 429, with Retry-After if given."""
    return failing(429, retry_after=retry_after)


def hanging() -> Scripted:
    """No answer at all."""
    return Scripted(hang=True)


class ScriptedChatServer:
    """The server; a context manager. `url` is the base URL for a client, `requests` what came in, in order."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._requests: list[ChatRequest] = []
        self._server = _Listener(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL, up to and with `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """Every request so far."""
        with self._lock:
            return tuple(self._requests)

    def close(self) -> None:
        """Release hanging requests and stop."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def answer(self, request: ChatRequest) -> Scripted | None:
        """Record a request and give its answer; None means to hang up without one."""
        with self._lock:
            position = len(self._requests)
            self._requests.append(request)
        if callable(self._script):
            scripted = self._script(request)
        else:
            scripted = self._script[position] if position < len(self._script) else failing(EXHAUSTED)
        if scripted.hang:
            self._closing.wait()
            return None
        return scripted


class _Listener(ThreadingHTTPServer):
    """Hands every request to the scripted server."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, owner: ScriptedChatServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted = self.server.owner.answer(ChatRequest(self.path, headers, json.loads(raw)))
        if scripted is None:
            self.close_connection = True
            return
        self.send_response(scripted.status)
        for name, value in {"Content-Type": "application/json", **scripted.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(scripted.body)))
        self.end_headers()
        self.wfile.write(scripted.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: the standard handler writes to stderr."""
