"""Everything that the lab can do, one file a job: its command line, its notebook, its link.

A job is a line of :data:`JOBS` and the module of its name, whose ``JOB`` says the rest. Only the
module of the job that is asked for is imported, and what its call alone needs is imported there,
so that help and simple commands start at once.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.jobs.job import Job
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Job",
]
