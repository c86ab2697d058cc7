"""The zip that krafla travels in, without Spark: what is in it, and what an import makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from zipfile import ZipFile

import pytest
from tests.krafla.pipeline.places.environments import (
    WORKER_PACKAGES,
    install_wheel,
    make_environment,
)

from krafla.pipeline.shipping import digest_here, write_zip

IMPORT = (
    "import krafla, kraft.records, krafla.pipeline.shipping as shipping, krafla.tlc.jar as jar;"
    "print(krafla.__file__, shipping.digest_here(), jar.find_jar().path, sep='\\n')"
)


@pytest.fixture
def zipped(tmp_path):
    path = tmp_path / "krafla-0123.zip"
    write_zip(path)
    return path


def started(zipped):
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(zipped), "KRAFLA_SPECS": "/nowhere",
             "KRAFLA_TLA2TOOLS": "/nowhere"},
    )  # fmt: skip


def test_equal_contents_make_equal_zips(zipped, tmp_path):
    again = tmp_path / "again.zip"
    write_zip(again)
    assert again.read_bytes() == zipped.read_bytes()


def test_what_no_worker_needs_is_not_sent(zipped):
    names = ZipFile(zipped).namelist()
    assert "payload/krafla/specs/manifest.toml" in names
    assert not [name for name in names if "__pycache__" in name or "/traces_recorded/" in name]


def test_an_import_finds_code_specs_and_jar_as_files_that_were_sent(zipped):
    process = started(zipped)
    told, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    laid_out = zipped.with_suffix("")
    files = [laid_out / "krafla" / "__init__.py", digest_here(), laid_out / "tla2tools.jar"]
    assert told.splitlines() == [str(one) for one in files]


def test_processes_that_import_at_once_lay_out_one_folder(zipped):
    processes = [started(zipped) for _ in range(4)]
    ended = [(process.communicate(timeout=120)[1], process.returncode) for process in processes]
    assert ended == [("", 0)] * 4
    assert sorted(zipped.parent.iterdir()) == [zipped.with_suffix(""), zipped]


def test_a_wheel_has_the_same_digest_as_its_checkout(tmp_path):
    environment = make_environment(tmp_path / "environment", WORKER_PACKAGES)
    ask = "import krafla.pipeline.shipping as shipping; print(shipping.digest_here())"

    def told():
        words = [environment.python, "-c", ask]
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)

    before = told()
    assert "No module named 'krafla'" in before.stderr
    install_wheel(environment, tmp_path / "wheel")
    assert told().stdout.strip() == digest_here()
