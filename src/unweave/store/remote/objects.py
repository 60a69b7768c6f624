"""Files at an address such as ``s3://bucket/path``: reading and writing them, with retries and errors in words.

An operation that fails for a reason that may pass (no connection, a cut answer, an overloaded server) is repeated with
growing pauses until ``patience`` is used up. This is the only place that repeats requests.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from unweave.errors import Away, InputError, MissingExtra, Refused, Unavailable, extra, first_line
from unweave.progress import say

SKEWED = "RequestTimeTooSkewed"  # the code of the answer if the clock of this machine is wrong
PATIENCE = 15.0  # seconds that an operation waits for a store that is away; studies that train wait longer
PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before the second attempt; doubled before each further one
TOLD = 4.0  # seconds of a pause from which on the user is told
TOGETHER = 32  # requests at the same time
DIGITS = "0123456789abcdef"  # that names of runs begin with
EXTRAS = {"s3": "s3", "s3a": "s3"}  # of Unweave, by protocol
FINAL = (FileNotFoundError, FileExistsError, PermissionError, NotImplementedError, InputError)
CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound")
NO_BUCKET, NOT_AS_EXPECTED = "NoSuchBucket", "PreconditionFailed"  # S3's codes of errors
CONNECTION = {  # settings of botocore; it repeats nothing itself
    "retries": {"total_max_attempts": 1, "mode": "standard"},
    "connect_timeout": 10,
    "read_timeout": 30,
    "max_pool_connections": 2 * TOGETHER,
}


class StoredObject(NamedTuple):
    """An object as it was read."""

    content: bytes
    mark: str
    age: float | None  # seconds since it was written, by the clock of the server; None if that is not known


class Objects:
    """Files below an address of any file system that fsspec knows; paths are relative to the address.

    A mark is a text that changes with the content of an object.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.patience = PATIENCE
        self.failed = float("-inf")  # when an operation failed for a reason that may pass, by the monotonic clock
        self._told = float("-inf")  # when the user was told that this process waits
        self.system = _file_system(self.address)
        self.root = str(self.system._strip_protocol(self.address)).rstrip("/")

    def list(self, prefix: str = "") -> dict[str, str]:
        """Return the paths of all objects that begin with ``prefix``, each with its mark.

        The part of the prefix after its last slash must match the beginning of a name.
        """
        return {path: mark for path, (mark, _) in self._listed(prefix).items()}

    def ages(self, prefix: str) -> dict[str, float | None]:
        """Return the paths that begin with ``prefix``, with the seconds since each was written, if they are known."""
        return {path: age for path, (_, age) in self._listed(prefix).items()}

    def list_all(self) -> dict[str, str]:
        """Return the paths of all objects, each with its mark; of a large store, parts are listed at the same time."""
        return self.list()

    def _listed(self, prefix: str) -> dict[str, tuple[str, float | None]]:
        folder = prefix.rpartition("/")[0]
        try:
            found = self._tried(lambda: self.system.find(self._at(folder), detail=True))
        except FileNotFoundError:
            return {}
        below = len(self.root) + 1
        paths = {str(path)[below:] if self.root else str(path).lstrip("/"): info for path, info in found.items()}
        return {path: (_mark(info), None) for path, info in paths.items() if path.startswith(prefix)}

    def look(self, path: str, *, patience: float | None = None) -> StoredObject | None:
        """Return the content of an object with its mark and age, None if there is no such object."""
        try:
            info = self._tried(lambda: self.system.info(self._at(path)), patience)
            return StoredObject(
                bytes(self._tried(lambda: self.system.cat_file(self._at(path)), patience)), _mark(info), None
            )
        except FileNotFoundError:
            return None

    def read(self, path: str) -> bytes | None:
        """Return the content of an object, None if there is no such object."""
        seen = self.look(path)
        return None if seen is None else seen.content

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of many small objects, without those that do not exist."""
        names = list(paths)
        with ThreadPoolExecutor(min(TOGETHER, len(names)) or 1) as pool:
            found = zip(names, pool.map(self.read, names), strict=True)
        return {path: content for path, content in found if content is not None}

    def write(self, path: str, content: bytes) -> str:
        """Write an object and return its mark; readers see the old or the new content, never a part."""
        self._made(lambda: self._tried(lambda: self.system.pipe_file(self._at(path), content)))
        return _mark(self._tried(lambda: self.system.info(self._at(path))))

    def put(self, path: str, content: bytes, *, expected: str, patience: float | None = None) -> str | None:
        """Write an object if its mark is as expected, and return the new mark; None if it was not.

        S3 decides this on the server (a conditional put), so that of several writers one succeeds. For protocols
        without such a put it is checked beforehand, and two writers at the same moment may both succeed.

        Args:
            path: The path of the object.
            content: Its new content, which must differ from that of any other writer.
            expected: The mark that it must have, "" if it must not exist.
            patience: Seconds to wait for a store that is away, by default those of the store.

        Returns:
            The new mark, also if an attempt has succeeded without an answer.
        """
        try:
            mark: str = self._tried(lambda: self._put_once(path, content, expected), patience)
        except (FileExistsError, FileNotFoundError) as error:
            if _code(error) == NO_BUCKET:
                raise self._error(error) from error
            seen = self.look(path, patience=patience)
            return seen.mark if seen is not None and seen.content == content else None
        return mark

    def _put_once(self, path: str, content: bytes, expected: str) -> str:
        try:
            found = _mark(self.system.info(self._at(path)))
        except FileNotFoundError:
            found = ""
        if found != expected:
            raise FileExistsError(path)
        self.system.pipe_file(self._at(path), content)
        return _mark(self.system.info(self._at(path)))

    def upload(self, file: Path, path: str) -> None:
        """Copy a file of this machine to an object."""
        self._made(lambda: self._tried(lambda: self.system.put_file(str(file), self._at(path))))

    def download(self, path: str, file: Path) -> bool:
        """Copy an object to a file of this machine, and return whether there was one."""
        aside = file.with_name(f".{file.name}.partial")
        try:
            self._tried(lambda: self.system.get_file(self._at(path), str(aside)))
            aside.replace(file)
        except FileNotFoundError:
            return False
        finally:
            aside.unlink(missing_ok=True)
        return True

    def move(self, path: str, to: str) -> None:
        """Give an object another path."""
        self._tried(lambda: self.system.copy(self._at(path), self._at(to)))
        self.remove([path])

    def remove(self, paths: Iterable[str]) -> None:
        """Remove objects; those that do not exist are passed over."""
        names = list(paths)

        def remove_one(path: str) -> None:
            with suppress(FileNotFoundError):
                self._tried(lambda: self.system.rm_file(self._at(path)))

        with ThreadPoolExecutor(min(TOGETHER, len(names)) or 1) as pool:
            list(pool.map(remove_one, names))

    def remove_if(self, path: str, is_ours: Callable[[bytes], bool]) -> None:
        """Remove an object that nobody else writes while it is ours.

        After an attempt without an answer it is read again, because another process may have written it since.
        """
        while True:
            try:
                self._tried(lambda: self.system.rm_file(self._at(path)), patience=0)
                return
            except FileNotFoundError:
                return
            except Away:
                content = self.read(path)  # which waits for the store
                if content is None or not is_ours(content):
                    return

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def _made(self, write: Callable[[], Any]) -> None:
        """Write; that something does not exist can only mean the bucket or the folder of the store."""
        try:
            write()
        except FileNotFoundError as error:
            raise self._error(error) from error

    def _tried(self, operation: Callable[[], Any], patience: float | None = None) -> Any:
        """Do something, again if it fails for a reason that may pass, and say in words why it failed."""
        patience = self.patience if patience is None else patience
        began, pause = time.monotonic(), PAUSE
        while True:
            try:
                return operation()
            except FINAL as error:
                if _code(error) == NO_BUCKET or isinstance(error, PermissionError | NotImplementedError):
                    raise self._error(error) from error
                raise
            except Exception as error:
                self.failed = time.monotonic()
                left = began + patience - self.failed
                if left <= 0 or type(error).__name__ in CREDENTIALS:
                    raise self._error(error) from error
                if pause >= TOLD and self.failed - self._told > patience:
                    self._told = self.failed
                    say(f"waiting for the store {self.address} ({first_line(error)})")
            time.sleep(min(left, pause * random.uniform(0.75, 1.0)))  # not all workers at the same moment
            pause = min(2 * pause, LONGEST_PAUSE)

    def _error(self, error: Exception) -> Unavailable:
        said = first_line(error)
        if _code(error) == NO_BUCKET:
            return Refused(f"the store {self.address}: its bucket does not exist; create it first.")
        if _code(error) == SKEWED:
            return Refused(f"the store {self.address} refuses the time of this machine ({said}): check the clock.")
        if isinstance(error, PermissionError):
            return Refused(f"the store {self.address} does not permit this ({said}): check your credentials.")
        if type(error).__name__ in CREDENTIALS:
            return Refused(
                f"the store {self.address} needs credentials ({said}): set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
            )
        return Away(f"cannot reach the store {self.address} ({said}): check the connection and try again.")


class S3Objects(Objects):
    """Objects of S3, with one request per operation; fsspec's own reads and listings take up to three."""

    def _listed(self, prefix: str) -> dict[str, tuple[str, float | None]]:
        found: dict[str, tuple[str, float | None]] = {}
        for page, _ in self._pages(prefix):
            found |= page
        return found

    def list_all(self) -> dict[str, str]:
        """Return the paths of all objects, each with its mark; of a large store, parts are listed at the same time."""
        first, more = next(self._pages(""))
        pages = [first]
        if more:
            with ThreadPoolExecutor(len(DIGITS)) as pool:
                pages = list(pool.map(self._listed, DIGITS))
        return {path: mark for page in pages for path, (mark, _) in page.items()}

    def _pages(self, prefix: str) -> Iterator[tuple[dict[str, tuple[str, float | None]], bool]]:
        """Yield the pages of a listing, and whether there are more."""
        bucket, _, key = self._at(prefix).partition("/")
        key = key if prefix or not key else f"{key}/"
        below = len(key) - len(prefix)
        more: dict[str, str] = {}
        while True:
            wanted = {"Bucket": bucket, "Prefix": key, **more}
            got = self._tried(lambda: self.system.call_s3("list_objects_v2", **wanted))  # noqa: B023
            more = {"ContinuationToken": got["NextContinuationToken"]} if got.get("IsTruncated") else {}
            contents = got.get("Contents", ())
            yield {each["Key"][below:]: (_mark(each, each["Size"]), _age(each, got)) for each in contents}, bool(more)
            if not more:
                return

    def look(self, path: str, *, patience: float | None = None) -> StoredObject | None:
        """Return the content of an object with its mark and age, None if there is no such object."""

        async def read() -> StoredObject:
            got = await self.system._call_s3("get_object", **self._key(path))
            async with got["Body"] as body:
                content = await body.read()
            return StoredObject(content, _mark(got, len(content)), _age(got, got))

        from fsspec.asyn import sync

        try:
            seen: StoredObject = self._tried(lambda: sync(self.system.loop, read), patience)
        except FileNotFoundError:
            return None
        return seen

    def write(self, path: str, content: bytes) -> str:
        """Write an object and return its mark; readers see the old or the new content, never a part."""
        got: Any = None

        def write() -> None:
            nonlocal got
            got = self._tried(lambda: self.system.call_s3("put_object", Body=content, **self._key(path)))

        self._made(write)
        return _mark(got, len(content))

    def _put_once(self, path: str, content: bytes, expected: str) -> str:
        condition = {"IfMatch": expected.partition(" ")[0]} if expected else {"IfNoneMatch": "*"}
        try:
            got = self.system.call_s3("put_object", Body=content, **self._key(path), **condition)
        except OSError as error:
            if _code(error) == NOT_AS_EXPECTED:
                raise FileExistsError(path) from error
            raise
        return _mark(got, len(content))

    def _key(self, path: str) -> dict[str, str]:
        bucket, _, key = self._at(path).partition("/")
        return {"Bucket": bucket, "Key": key}


def open_objects(address: str) -> Objects:
    """Return the objects at an address."""
    return S3Objects(address) if address.partition("://")[0] in EXTRAS else Objects(address)


def size_in(mark: str) -> int:
    """Return the size in bytes of the object that has a mark."""
    return int(mark.rpartition(" ")[2])


def _file_system(address: str) -> Any:
    """Return the file system of an address, without caches: other machines change what is there."""
    protocol = address.partition("://")[0]
    if not re.fullmatch(r"[a-z0-9+.-]+://[^/\s].*|memory://.*", address):
        raise InputError(f"{address!r} is not the address of a store: write it like s3://bucket/path.")
    fsspec = extra("fsspec", EXTRAS.get(protocol, "s3"))
    settings: dict[str, Any] = {"use_listings_cache": False}
    if protocol in EXTRAS:
        try:
            extra("s3fs", EXTRAS[protocol])
        except MissingExtra:
            raise
        except ImportError as error:
            raise Unavailable(f"s3fs is installed but cannot be imported ({error}): install it again.") from error
        settings["config_kwargs"] = CONNECTION
    try:
        system = fsspec.filesystem(protocol, **settings)
    except ImportError as error:
        raise MissingExtra(f"stores at {protocol}:// need another package: {error}") from error
    except ValueError as error:
        raise InputError(f"stores at {protocol}:// are not supported ({error}): use s3://bucket/path.") from error
    if protocol in EXTRAS:
        system.retries = 1
        system.session = system.session or _session()
    return system


def _session() -> Any:
    """Return a session of S3 that reads times by the standard library: botocore spends most of a listing on them."""
    session = import_module("aiobotocore.session").get_session()
    session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_time)
    return session


def _time(text: str) -> datetime:
    """Return a time as S3 writes it: ISO 8601 in listings, RFC 5322 in headers."""
    return datetime.fromisoformat(text) if text[:1].isdecimal() else parsedate_to_datetime(text)


def _code(error: BaseException) -> str:
    """Return the code that a server of S3 gave an error, which s3fs keeps in its cause; "" if there is none."""
    answer = getattr(error.__cause__, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))


def _mark(info: dict[str, Any], size: int | None = None) -> str:
    """Return what changes with the content of an object: its hash where there is one, or else its time."""
    changed = info.get("ETag") or info.get("etag") or info.get("LastModified") or info.get("mtime")
    return f"{changed or info.get('created')} {info.get('size') if size is None else size}"


def _age(info: dict[str, Any], answer: dict[str, Any]) -> float | None:
    """Return the seconds between the last change of an object and an answer, both by the clock of the server."""
    written = info.get("LastModified")
    date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    if not isinstance(written, datetime) or not date:
        return None
    return (parsedate_to_datetime(date) - written).total_seconds()
