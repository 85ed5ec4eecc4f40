"""Jobs: what has become of an input."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.parameters import Limit, ServicesDep, UserId
from api.views import MAX_SEQUENCE, JobPage, JobView

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("")
async def page(
    services: ServicesDep,
    user_id: UserId,
    before: Annotated[int | None, Query(ge=1, le=MAX_SEQUENCE, description="`next` of the page before.")] = None,
    limit: Limit = 50,
) -> JobPage:
    """The user's jobs, newest first."""
    jobs = await services.jobs.jobs(user_id, before=before, limit=limit)
    return JobPage(items=tuple(JobView.of(job) for job in jobs), next=jobs[-1].sequence if len(jobs) == limit else None)


@router.get("/{job_id}")
async def one(services: ServicesDep, job_id: UUID, user_id: UserId) -> JobView:
    """A job's state and counts."""
    return JobView.of(await services.jobs.job(user_id, job_id))


@router.post("/{job_id}/retry")
async def retry(services: ServicesDep, job_id: UUID, user_id: UserId) -> JobView:
    """Run a job that ended again from where it stopped."""
    return JobView.of(await services.acceptor.retry(user_id, job_id))


@router.post("/{job_id}/cancel")
async def cancel(services: ServicesDep, job_id: UUID, user_id: UserId) -> JobView:
    """Stop a job; what it committed stays."""
    return JobView.of(await services.acceptor.cancel(user_id, job_id))
