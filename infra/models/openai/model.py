"""The memory model over an OpenAI-compatible chat endpoint."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

import instructor
from instructor.core.exceptions import InstructorError
from openai.types.chat import ChatCompletion

from domain.errors import ModelError, ModelOutputInvalid, ModelRefused
from domain.memory import Extraction, Frozen
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    Usage,
    WriteAnswer,
    WriteRequest,
)
from infra.models.openai import answers, inputs
from infra.models.openai.endpoint import MAX_REASKS, Endpoint, Spending
from infra.models.openai.raw import json_part
from infra.models.openai.schemas import RECORDS_OF, Wire, WireDecisions, WireExtraction, WireRoute, WireSame
from infra.models.prompts import Prompt, prompt

TEMPERATURE = 0.0
"""Paper 3.1."""

SEED = 42
"""Paper 3.1."""

_FINISHED = frozenset({"stop", "tool_calls", None})
"""Finish reasons of a whole answer; local endpoints may give none."""

W = TypeVar("W", bound=Wire)
A = TypeVar("A", bound=Frozen)


class OpenAIModel:
    """MemoryModel over any endpoint that speaks chat completions.

    The answer's JSON schema goes out as `response_format`. An endpoint that refuses this (400, 422) is asked once
    more with the schema in the prompt alone, and from then on only so if that works.
    """

    def __init__(self, endpoint: Endpoint, *, model: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds, for the latency in Usage."""
        self._endpoint = endpoint
        self._model = model
        self._clock = clock
        self._mode: instructor.Mode | None = None

    @property
    def name(self) -> str:
        """Name of the chat model."""
        return self._model

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]:
        """Which kinds the chunk updates."""
        return await self._reply("route", inputs.route_values(request), WireRoute, answers.route_answer)

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]:
        """The records of one kind; every kind has its own prompt and schema."""

        def read(wire: Any) -> WriteAnswer:
            return WriteAnswer(records=answers.record_drafts(wire, kind=request.kind, chunk=request.chunk))

        name = f"write_{request.kind.value}"
        return await self._reply(name, inputs.write_values(request), RECORDS_OF[request.kind], read)

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]:
        """Entities and frames of one record."""
        return await self._reply("extract", inputs.extract_values(request), WireExtraction, answers.extraction)

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        """Additions that cover the missing items."""

        def read(wire: WireExtraction) -> Extraction:
            return answers.extraction(wire, known=request.extraction.entities)

        return await self._reply("repair", inputs.repair_values(request), WireExtraction, read)

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        """Same-entity decisions; without any candidate nothing is asked."""
        if not any(question.candidates for question in request.questions):
            return Reply(answer=CanonicalizeAnswer(), usage=Usage(model=self._model, attempts=0))

        def read(wire: WireDecisions) -> CanonicalizeAnswer:
            return answers.renames(wire, request=request)

        return await self._reply("canonicalize", inputs.canonicalize_values(request), WireDecisions, read)

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """Whether two anchors are one."""

        def read(wire: WireSame) -> SameAnswer:
            return answers.same_answer(wire, request=request)

        return await self._reply("same", inputs.same_values(request), WireSame, read)

    async def _reply(self, name: str, values: Mapping[str, str], wire: type[W], read: Callable[[W], A]) -> Reply[A]:
        asked, spending, started = prompt(name), Spending(), self._clock()
        answer = read(await self._negotiated(wire, asked.messages(values), spending))
        return Reply(answer=answer, usage=self._usage(asked, spending, started))

    def _usage(self, asked: Prompt, spending: Spending, started: float) -> Usage:
        return Usage(
            model=self._model,
            prompt_id=asked.id,
            prompt_hash=asked.hash,
            tokens_in=spending.tokens_in,
            tokens_out=spending.tokens_out,
            latency_ms=round((self._clock() - started) * 1000),
            attempts=spending.requests,
        )

    async def _negotiated(self, wire: type[W], messages: list[dict[str, str]], spending: Spending) -> W:
        """Ask in the form the endpoint is known to take, else try both; the second try counts as a retry."""
        mode = self._mode or instructor.Mode.JSON_SCHEMA
        try:
            answer = await self._structured(wire, messages, spending, mode)
        except ModelRefused:
            if self._mode or not (spending.malformed and spending.may_retry()):
                raise
            spending.retry()
            mode = instructor.Mode.MD_JSON
            answer = await self._structured(wire, messages, spending, mode)
        self._mode = mode
        return answer

    async def _structured(
        self, wire: type[W], messages: list[dict[str, str]], spending: Spending, mode: instructor.Mode
    ) -> W:
        async def create(**request: Any) -> ChatCompletion:
            completions = self._endpoint.client.chat.completions
            completion = await self._endpoint.send(lambda: completions.create(**request), spending)
            return _finished(completion, spending)

        ask = cast(Callable[..., Awaitable[W]], instructor.patch(create=create, mode=mode))
        try:
            return await ask(
                response_model=wire,
                messages=messages,
                model=self._model,
                temperature=TEMPERATURE,
                seed=SEED,
                max_retries=MAX_REASKS,
                strict=False,
            )
        except InstructorError as error:
            failure = _failure(error, spending)
        # Outside the handler: instructor's error holds the prompt and the invalid answers (invariant 7).
        raise failure


def _failure(error: InstructorError, spending: Spending) -> ModelError:
    if isinstance(error.__cause__, ModelError):
        return error.__cause__
    return ModelOutputInvalid(
        f"the model's answer still broke its schema after {spending.requests} requests", attempts=spending.requests
    )


def _finished(completion: object, spending: Spending) -> ChatCompletion:
    """The completion with its content fit to parse. Raises ModelOutputInvalid if it is none, was cut off or refused."""
    choices = completion.choices if isinstance(completion, ChatCompletion) else None
    if not isinstance(completion, ChatCompletion) or not choices or choices[0].message is None:
        raise ModelOutputInvalid("the endpoint's answer is no chat completion", attempts=spending.requests)
    spending.add(completion.usage)
    choice = choices[0]
    if choice.finish_reason not in _FINISHED or choice.message.refusal:
        # The same request would be cut or refused alike at temperature 0: no re-ask.
        raise ModelOutputInvalid("the model's answer was cut off or refused", attempts=spending.requests)
    choice.message.content = json_part(choice.message.content or "")
    return completion
