"""`reverie doctor` finds what is broken, says how to mend it, and never prints a password."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from infra.run.embedded.check import Check
from infra.run.embedded.checks import check_machine, check_models
from infra.run.embedded.server_checks import check_database, check_temporal
from infra.run.embedded.temporal import EmbeddedTemporal
from infra.settings import Settings

DOCTOR = (sys.executable, "-c", "from infra.run.cli.main import main; main()", "doctor")


def test_all_is_well_on_the_embedded_servers(
    data_dir: Path, database_url: str, temporal_server: EmbeddedTemporal
) -> None:
    done = _doctor(data_dir, "--json", database_url=database_url, temporal_address=temporal_server.address)
    checks = _by_name(Check.model_validate(finding) for finding in json.loads(done.stdout))
    assert [check for check in checks.values() if not check.ok] == []
    assert done.returncode == 0
    assert checks["Extension age"].detail == "1.7.0 installed"
    assert checks["Temporal namespace"].detail == "reverie, histories kept 90 days"
    assert checks["Embeddings"].detail.endswith("384 dimensions, files as pinned")


def test_servers_out_of_reach_are_broken_lines_with_a_fix(data_dir: Path) -> None:
    done = _doctor(data_dir, database_url="postgresql://me:heron-4471@127.0.0.1:1/mine", temporal_address="127.0.0.1:1")
    assert done.returncode == 1
    assert "can't connect to 127.0.0.1:1/mine (Connection refused)" in done.stdout
    assert "no answer from 127.0.0.1:1" in done.stdout
    assert done.stdout.count("fix: ") == 2
    assert "heron-4471" not in done.stdout + done.stderr


def test_a_wrong_password_is_said_in_words(database_url: str) -> None:
    password = urlsplit(database_url).password
    assert password is not None
    (check,) = check_database(database_url.replace(password, "wrong"))
    assert not check.ok
    assert "password authentication failed" in check.detail


def test_missing_extensions_are_available_and_need_no_fix(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector CASCADE")
    checks = _by_name(check_database(database_url))
    assert checks["Extension vector"].ok
    assert checks["Extension vector"].detail == "0.8.1 available, not installed yet"


def test_a_missing_namespace_is_named_with_its_command(temporal_server: EmbeddedTemporal) -> None:
    settings = Settings(temporal_address=temporal_server.address, temporal_namespace="nowhere")
    checks = _by_name(check_temporal(settings))
    assert checks["Temporal"].ok
    assert not checks["Temporal namespace"].ok
    assert "temporal operator namespace create --retention 90d nowhere" in checks["Temporal namespace"].fix


def test_a_data_directory_open_to_others_is_broken(data_dir: Path) -> None:
    data_dir.chmod(0o777)
    check = _by_name(check_machine(Settings(data_dir=data_dir)))["Data directory"]
    assert not check.ok
    assert "chmod go-rw" in check.fix


def test_a_dimension_that_is_not_the_embedders_is_broken() -> None:
    check = _by_name(check_models(Settings(embedding_dimension=1536)))["Embeddings"]
    assert not check.ok
    assert "REVERIE_EMBEDDING_DIMENSION says 1536" in check.detail


def test_an_endpoint_that_does_not_answer_is_broken_and_its_key_unprinted() -> None:
    settings = Settings.model_validate({"model_base_url": "http://127.0.0.1:1/v1", "model_api_key": "heron-4471"})
    check = _by_name(check_models(settings))["Model"]
    assert not check.ok
    assert "REVERIE_MODEL_BASE_URL" in check.fix
    assert "heron-4471" not in check.model_dump_json()


def _doctor(
    data_dir: Path, *arguments: str, database_url: str, temporal_address: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "REVERIE_DATA_DIR": str(data_dir),
        "REVERIE_DATABASE_URL": database_url,
        "REVERIE_TEMPORAL_ADDRESS": temporal_address,
        "COLUMNS": "200",
    }
    return subprocess.run((*DOCTOR, *arguments), env=environment, capture_output=True, text=True, check=False)


def _by_name(checks: Iterable[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}
