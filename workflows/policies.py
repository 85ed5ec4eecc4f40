"""Queues, time limits and retries of every step, named once.

One retry layer a time scale: the model adapter retries for seconds inside one attempt; Temporal retries attempts for
minutes; a job that failed waits for a person (`retry`). Every policy is bounded.
"""

from datetime import timedelta

from temporalio.common import Priority, RetryPolicy, SearchAttributeKey
from temporalio.workflow import ActivityCancellationType, ActivityConfig

USER = SearchAttributeKey.for_keyword("ReverieUser")
KIND = SearchAttributeKey.for_keyword("ReverieKind")
STAGE = SearchAttributeKey.for_keyword("ReverieStage")
REQUEST = SearchAttributeKey.for_keyword("ReverieRequest")

WORKFLOW_QUEUE = "workflow"
DATABASE_QUEUE = "database"
MODEL_QUEUE = "model"
GRAPH_QUEUE = "graph"
"""Steps that read or change the graph have places of their own: an evidence commit never waits behind a slow graph."""

HEARTBEAT = timedelta(seconds=10)
"""A step of a killed worker is taken over after this long at most."""

MODEL_STEP_LIMIT = timedelta(hours=1)
"""A chunk of some twenty records with a slow endpoint; a dead worker is noticed by its heartbeat long before."""

MODEL_ATTEMPTS = 6
DATABASE_ATTEMPTS = 12
BOOKKEEPING_ATTEMPTS = 40
"""About half an hour at one-minute intervals: without it a job would stay open for ever."""

CHUNKS_AT_A_TIME = 4
CHUNKS_A_RUN = 100
"""Chunks before continue-as-new: 100 of about 40 events keep a history far below Temporal's 10,000-event warning."""

PAIRS_A_STEP = 8
STEPS_AT_A_TIME = 4
"""Verification: a step asks about a few pairs side by side; with a step's places on the model queue this bounds the
calls of a round."""

BATCH_POLL = timedelta(seconds=2)
"""How often a batch's workflow looks whether inputs have ended."""

USERS_A_PAGE = 100
"""Users of a schedule's run before continue-as-new."""
ROUNDS_AT_A_TIME = 4
"""Users whose rounds a schedule's run has open at a time."""
FIRST_LOOK, LONGEST_LOOK = timedelta(seconds=1), timedelta(seconds=30)
"""A schedule's run looks at a round after this long, then after twice as long each time."""

QUEUE_CHECK = timedelta(seconds=20)
"""How long the queue waits for its head before it looks after the head's workflow."""
QUEUE_IDLE = timedelta(minutes=5)
"""An idle queue ends after this long; the next input starts it again."""


def _retries(attempts: int, longest: timedelta) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=timedelta(seconds=1),
        backoff_coefficient=2.0,
        maximum_interval=longest,
        maximum_attempts=attempts,
    )


def _step(queue: str, limit: timedelta, policy: RetryPolicy) -> ActivityConfig:
    return ActivityConfig(
        task_queue=queue,
        start_to_close_timeout=limit,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=policy,
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


class Policies:
    """Activity options for one deployment's queue prefix."""

    def __init__(self, prefix: str) -> None:
        self.model = _step(queue(prefix, MODEL_QUEUE), MODEL_STEP_LIMIT, _retries(MODEL_ATTEMPTS, timedelta(minutes=1)))
        self.database = _step(
            queue(prefix, DATABASE_QUEUE), timedelta(minutes=10), _retries(DATABASE_ATTEMPTS, timedelta(seconds=30))
        )
        self.graph = _step(queue(prefix, GRAPH_QUEUE), MODEL_STEP_LIMIT, _retries(MODEL_ATTEMPTS, timedelta(minutes=1)))
        self.bookkeeping = _step(
            queue(prefix, DATABASE_QUEUE), timedelta(minutes=1), _retries(BOOKKEEPING_ATTEMPTS, timedelta(minutes=1))
        )


def queue(prefix: str, name: str) -> str:
    """The full name of a task queue."""
    return f"{prefix}-{name}"


def fair(user_id: str) -> Priority:
    """Tenants take turns on a busy queue (needs matching.enableFairness on the server)."""
    return Priority(fairness_key=user_id)


def workflow_id(prefix: str, kind: str, *parts: str) -> str:
    """The id of a workflow: deployments that share a namespace don't meet."""
    return "/".join((prefix, kind, *parts))
