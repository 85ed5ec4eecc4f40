"""The one tree of errors, split by what the caller can do: mend the request, wait and retry, or give up.

Messages name fields, ids, counts and limits. They never hold memory text, a prompt, a model's output or a secret
(invariant 7), because they end in logs, workflow histories and HTTP answers.
"""

from typing import ClassVar


class ReverieError(Exception):
    """Root of the tree. `type` is the stable name given to callers; `retryable` says if the same call may succeed
    later."""

    type: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        """Seconds to wait before the next attempt, when the other side said so."""


class InvalidInput(ReverieError):
    """The caller's input can't be stored as it is; `field` says where (`messages[3].sent_at`)."""

    type = "invalid_input"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class NotFound(ReverieError):
    """No such thing for this user. The same answer whether it is absent or another user's (invariant 8)."""

    type = "not_found"


class RequestConflict(ReverieError):
    """The request id was used before with a different body."""

    type = "request_conflict"


class MergeConflict(ReverieError):
    """A merge can't be made or taken back as the graph stands; the message says what is in the way."""

    type = "merge_conflict"


class ConsolidationEnded(ReverieError):
    """The consolidation was ended (cancelled, or out of time) before this step of it: nothing was changed."""

    type = "consolidation_ended"


class ConfigurationError(ReverieError):
    """The installation is not fit to run; the message says what to change."""

    type = "configuration"


class EmbeddingMismatch(ConfigurationError):
    """The embedder's name or dimension differs from the one the stored vectors were made with."""

    type = "embedding_mismatch"


class Unavailable(ReverieError):
    """A server we depend on can't be reached or refused the work for now."""

    type = "unavailable"
    retryable = True


class StoreUnavailable(Unavailable):
    """The database can't be reached, or broke off a statement that may be sent again."""

    type = "store_unavailable"


class GraphUnavailable(Unavailable):
    """The graph can't be read or written (dropped, locked, broken); the evidence plane is unaffected."""

    type = "graph_unavailable"


class ModelError(ReverieError):
    """A model call failed. `attempts` counts the requests sent to the endpoint for this one call."""

    type = "model_error"

    def __init__(self, message: str, *, attempts: int = 1, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.attempts = attempts


class ModelUnavailable(ModelError):
    """The endpoint timed out, refused the connection or answered 5xx."""

    type = "model_unavailable"
    retryable = True


class ModelRateLimited(ModelUnavailable):
    """The endpoint answered 429; `retry_after` holds its Retry-After in seconds when it gave one."""

    type = "model_rate_limited"


class ModelOutputInvalid(ModelError):
    """The answer broke its schema after the bounded re-asks; asking the same again is unlikely to help."""

    type = "model_output_invalid"


class ModelRefused(ModelError):
    """The endpoint rejects the request itself (400, 401, 403, 404): mend the configuration."""

    type = "model_refused"
