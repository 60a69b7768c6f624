from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.store.remote import objects as module
from unweave.store.remote.objects import Objects, open_objects


@pytest.fixture(params=["memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    address = f"memory://{tmp_path.name}" if request.param == "memory" else request.getfixturevalue("bucket")
    return open_objects(address)


def test_objects_are_written_listed_read_moved_and_removed(objects: Objects, tmp_path: Path) -> None:
    assert objects.list() == {}
    assert objects.read("a/one") is None
    objects.write("a/one", b"1")
    objects.write("b.2", b"22")
    (tmp_path / "file").write_bytes(b"333")
    objects.upload(tmp_path / "file", "a/three")
    assert set(objects.list()) == {"a/one", "a/three", "b.2"}
    assert set(objects.list("a/")) == {"a/one", "a/three"}
    assert set(objects.list("a/o")) == {"a/one"}
    assert objects.read_all(["a/one", "a/three", "none"]) == {"a/one": b"1", "a/three": b"333"}
    marks = objects.list()
    objects.write("a/one", b"2")
    changed = objects.list()
    assert {path for path in marks if marks[path] != changed[path]} == {"a/one"}
    assert objects.download("a/three", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"333"
    assert not objects.download("none", tmp_path / "none")
    assert not list(tmp_path.glob("*none*"))
    objects.move("a/three", "c/three")
    objects.remove(["a/one", "none"])
    assert set(objects.list()) == {"b.2", "c/three"}


def test_only_the_first_creates_an_object(objects: Objects) -> None:
    assert objects.put("claims/one", b"mine", expected="")
    assert objects.put("claims/one", b"yours", expected="") is None
    assert objects.read("claims/one") == b"mine"
    assert objects.put("claims/one", b"mine", expected="")  # the answer to the first attempt may have been lost


def test_what_fails_for_a_moment_is_tried_again(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    objects = open_objects(bucket)
    genuine, failures = objects.system.call_s3, iter([TimeoutError("slow"), ConnectionResetError("reset")])

    def flaky(*given: Any, **named: Any) -> Any:
        for failure in failures:
            raise failure
        return genuine(*given, **named)

    monkeypatch.setattr(objects.system, "call_s3", flaky)
    objects.write("a", b"1")
    assert objects.read("a") == b"1"


def test_errors_are_sentences(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    with pytest.raises(Unavailable, match="s3://no-such-bucket/x: its bucket does not exist; create it first"):
        open_objects("s3://no-such-bucket/x").list()
    with pytest.raises(Unavailable, match="its bucket does not exist"):
        open_objects("s3://no-such-bucket/x").write("a", b"1")
    objects = open_objects(bucket)

    def forbidden(*_: Any, **__: Any) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(objects.system, "call_s3", forbidden)
    with pytest.raises(Unavailable, match=r"does not permit this \(Access Denied\): check your credentials"):
        objects.write("a", b"1")

    def skewed(*_: Any, **__: Any) -> None:
        from botocore.exceptions import ClientError
        from s3fs.errors import translate_boto_error

        answer = {"Error": {"Code": "RequestTimeTooSkewed", "Message": "The difference is too large"}}
        raise translate_boto_error(ClientError(answer, "PutObject"))

    monkeypatch.setattr(objects.system, "call_s3", skewed)
    with pytest.raises(
        Unavailable, match=r"refuses the time of this machine \(The difference is too large\): check the"
    ):
        objects.write("a", b"1")


def test_an_object_is_only_missing_where_the_address_has_the_word_bucket(bucket: str, tmp_path: Path) -> None:
    objects = open_objects(f"{bucket}/bucket-of-runs")
    assert objects.list() == {}
    assert objects.read("none") is None
    assert objects.read_all(["none"]) == {}
    assert not objects.download("none", tmp_path / "none")
    objects.remove(["none"])


def test_an_unreachable_server_is_a_sentence(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    objects = open_objects(bucket)
    with pytest.raises(Unavailable, match=r"cannot reach the store s3://.*: check the connection and try again"):
        objects.write("a", b"1")
    s3fs.S3FileSystem.clear_instance_cache()


def test_missing_credentials_are_a_sentence(bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import s3fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(Unavailable, match=r"needs credentials .*: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        open_objects(bucket).write("a", b"1")
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize("address", ["s3://", "s3:///path", "s3:// x"])
def test_addresses_without_a_bucket_are_refused(address: str) -> None:
    with pytest.raises(InputError, match="is not the address of a store: write it like s3://bucket/path"):
        open_objects(address)


def test_unknown_protocols_are_refused() -> None:
    with pytest.raises(InputError, match="stores at nothing:// are not supported"):
        open_objects("nothing://here")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[s3\]'"):
        open_objects("s3://bucket/x")


@pytest.mark.parametrize("text", ["2026-11-18T14:05:06.000Z", "2026-02-28T23:59:59Z", "Wed, 18 Nov 2026 14:05:06 GMT"])
def test_times_of_s3_are_read_as_botocore_reads_them(text: str) -> None:
    parse = pytest.importorskip("botocore.utils").parse_timestamp
    read = module._time(text)
    assert read == parse(text)
    assert read.utcoffset() is not None


def test_times_of_a_listing_are_read_by_the_fast_function(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    seen: list[str] = []
    read = module._time

    def noted(text: str) -> Any:
        seen.append(text)
        return read(text)

    monkeypatch.setattr(module, "_time", noted)
    s3fs.S3FileSystem.clear_instance_cache()
    objects = open_objects(bucket)
    objects.write("a", b"1")
    (age,) = objects.ages("").values()
    s3fs.S3FileSystem.clear_instance_cache()
    assert len(seen) == 1
    assert age is not None
    assert -2 <= age < 60
