"""Engines that the statement of ``log-query`` is run on; a test skips without its engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def _binary(name: str) -> str | None:
    """A program of PostgreSQL, which Debian keeps off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A connection to a server of its own, reached by a socket alone and gone afterwards."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    initdb, control = _binary("initdb"), _binary("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with (
        tempfile.TemporaryDirectory(prefix="ultr-nightly-") as folder,
        _server(initdb, control, Path(folder)),
        psycopg.connect(host=folder, user="lab", dbname="postgres") as connection,
    ):
        yield connection


@contextmanager
def _server(initdb: str, control: str, folder: Path) -> Iterator[None]:
    who: dict[str, Any] = {}
    if os.geteuid() == 0:  # as which it refuses to run
        who = {"user": "postgres", "group": "postgres"}
        shutil.chown(folder, "postgres")
    subprocess.run(
        [initdb, "-D", folder / "data", "-U", "lab", "--auth=trust", "-E", "UTF8",
         "--locale=C.UTF-8"],
        check=True, capture_output=True, cwd=folder, **who,
    )  # fmt: skip
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
    server = [control, "-D", folder / "data", "-w"]
    subprocess.run(
        [*server, "-o", options, "-l", folder / "log", "start"], check=True, cwd=folder,
        stdout=subprocess.DEVNULL, **who,
    )  # fmt: skip
    try:
        yield
    finally:
        subprocess.run(
            [*server, "-m", "immediate", "stop"], check=True, cwd=folder,
            stdout=subprocess.DEVNULL, **who,
        )  # fmt: skip


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark in this process."""
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed (apt-get install default-jre-headless)")
    session = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
        .getOrCreate()
    )
    yield session
    session.stop()
