"""Jobs: what has become of an input."""

from typing import Annotated

from fastapi import APIRouter, Query

from api import examples
from api.documentation import MANY, ONE, example
from api.parameters import JobId, Limit, ServicesDep, UserId
from api.views import MAX_SEQUENCE, JobPage, JobView

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("", summary="List jobs", responses=MANY | example(200, examples.JOBS, "A page of jobs."))
async def page(
    services: ServicesDep,
    user_id: UserId,
    before: Annotated[int | None, Query(ge=1, le=MAX_SEQUENCE, description="`next` of the page before.")] = None,
    limit: Limit = 50,
) -> JobPage:
    """The user's jobs, newest first."""
    jobs = await services.jobs.jobs(user_id, before=before, limit=limit)
    return JobPage(items=tuple(JobView.of(job) for job in jobs), next=jobs[-1].sequence if len(jobs) == limit else None)


@router.get("/{job_id}", summary="Read a job", responses=ONE | example(200, examples.JOB, "The job."))
async def one(services: ServicesDep, job_id: JobId, user_id: UserId) -> JobView:
    """A job's state and counts."""
    return JobView.of(await services.jobs.job(user_id, job_id))


@router.post(
    "/{job_id}/retry",
    summary="Retry a job",
    responses=ONE | example(200, {**examples.WAITING_JOB, "attempt": 2}, "The job, accepted again."),
)
async def retry(services: ServicesDep, job_id: JobId, user_id: UserId) -> JobView:
    """Run a job that ended again from where it stopped."""
    return JobView.of(await services.acceptor.retry(user_id, job_id))


@router.post(
    "/{job_id}/cancel",
    summary="Cancel a job",
    responses=ONE | example(200, examples.CANCELLED_JOB, "The job; as it was if it had ended."),
)
async def cancel(services: ServicesDep, job_id: JobId, user_id: UserId) -> JobView:
    """Stop a job; what it committed stays."""
    return JobView.of(await services.acceptor.cancel(user_id, job_id))
