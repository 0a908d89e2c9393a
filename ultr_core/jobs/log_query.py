"""``log-query``: the statement that counts a click log where it is."""

from __future__ import annotations

from ultr_core.fields import Choice, Text
from ultr_core.files.log_query import DIALECTS, counting_query
from ultr_core.jobs.files import COLUMNS
from ultr_core.jobs.job import Given, Job

NOTES = """\
The result is read like any click log, so you can use it instead of a log that is too large to move:

  python -m ultr_core log-query --dialect duckdb --table clicks \\
      --columns presentation=serp_id,session=visit > count.sql
  duckdb shop.duckdb -c "COPY ($(cat count.sql)) TO 'counts.parquet'"
  python -m ultr_core propensities counts.parquet

docs/counting.md explains how to do this with Spark and PostgreSQL."""


def run(given: Given) -> str:
    """Write the statement."""
    return counting_query(given.table, given.columns, DIALECTS[given.dialect])


JOB = Job(
    run,
    options=(
        Choice(
            "dialect", "Dialect", {key: each.name for key, each in DIALECTS.items()},
            help="the engine that runs the statement",
        ),
        Text(
            "table", "Table", default="log", longest=500,
            help="the table with the log, such as shop.clicks (default log); put a part that "
            "contains a dot in quotation marks",
        ),
        COLUMNS,
    ),
    show=print,
    notes=NOTES,
    as_typed=True,
)  # fmt: skip
