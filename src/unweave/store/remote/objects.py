"""Files at an address such as ``s3://bucket/path``: reading and writing them, with retries and errors in words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from unweave.errors import InputError, MissingExtra, Unavailable, extra

ATTEMPTS = 4  # of an operation that fails for a reason that may pass
PAUSE = 0.5  # seconds before the second attempt; doubled before each further one
TOGETHER = 256  # objects that are read at once
EXTRAS = {"s3": "s3", "s3a": "s3"}  # of Unweave, by protocol
FINAL = (FileNotFoundError, FileExistsError, PermissionError, NotImplementedError, InputError)
CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound")
NO_BUCKET = "NoSuchBucket"  # S3's code of the error


class Objects:
    """Files below an address of any file system that fsspec knows; paths are relative to the address."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.system = _file_system(self.address)
        self.root = str(self.system._strip_protocol(self.address)).rstrip("/")

    def list(self, prefix: str = "") -> dict[str, str]:
        """Return the paths of all objects that begin with ``prefix``, each with a text that changes with its content.

        The part of the prefix after its last slash must match the beginning of a name.
        """
        folder, _, start = prefix.rpartition("/")
        try:
            found = self._tried(lambda: self.system.find(self._at(folder), detail=True, **self._narrowed(start)))
        except FileNotFoundError:
            return {}
        below = len(self.root) + 1
        paths = {str(path)[below:] if self.root else str(path).lstrip("/"): info for path, info in found.items()}
        return {path: _mark(info) for path, info in paths.items() if path.startswith(prefix)}

    def read(self, path: str) -> bytes | None:
        """Return the content of an object, None if there is no such object."""
        try:
            return bytes(self._tried(lambda: self.system.cat_file(self._at(path))))
        except FileNotFoundError:
            return None

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of many small objects, without those that do not exist."""
        left = [self._at(path) for path in paths]
        below = len(self.root) + 1
        found: dict[str, bytes] = {}
        for start in range(0, len(left), TOGETHER):
            some = left[start : start + TOGETHER]
            got = self._tried(lambda: self.system.cat(some, recursive=False, on_error="return"))  # noqa: B023
            got = got if isinstance(got, dict) else {some[0]: got}
            for full, content in got.items():
                path = str(full)[below:]
                again = self.read(path) if isinstance(content, Exception) else bytes(content)
                if again is not None:
                    found[path] = again
        return found

    def write(self, path: str, content: bytes) -> None:
        """Write an object; readers see the old or the new content, never a part."""
        self._made(lambda: self._tried(lambda: self.system.pipe_file(self._at(path), content)))

    def create(self, path: str, content: bytes) -> bool:
        """Write an object unless it exists, and return whether it was written.

        S3 decides this on the server (a conditional put), so that of several writers one succeeds. For protocols
        without such a put it is checked beforehand, and two writers at the same moment may both succeed.
        """
        try:
            self._made(lambda: self._tried(lambda: self.system.pipe_file(self._at(path), content, mode="create")))
        except FileExistsError:
            return self.read(path) == content  # an attempt of ours that succeeded without an answer
        return self.read(path) == content

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

    def changed(self, path: str) -> float:
        """Return when an object was written by the clock of the server, or now if that is not known."""
        try:
            return float(self._tried(lambda: self.system.modified(self._at(path))).timestamp())
        except (FileNotFoundError, Unavailable):
            return time.time()

    def move(self, path: str, to: str) -> None:
        """Give an object another path."""
        self._tried(lambda: self.system.copy(self._at(path), self._at(to)))
        self.remove([path])

    def remove(self, paths: Iterable[str]) -> None:
        """Remove objects; those that do not exist are passed over."""
        for path in paths:
            try:
                self._tried(lambda: self.system.rm_file(self._at(path)))  # noqa: B023
            except FileNotFoundError:
                continue

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def _narrowed(self, start: str) -> dict[str, str]:
        """Let the server select names by their beginning where it can."""
        return {"prefix": start} if start and self.address.startswith("s3") else {}

    def _made(self, write: Callable[[], Any]) -> None:
        """Write, and make the folder first if the file system has folders and this one does not exist."""
        try:
            write()
        except FileNotFoundError as error:
            raise self._error(error) from error

    def _tried(self, operation: Callable[[], Any]) -> Any:
        """Do something, again if it fails for a reason that may pass, and say in words why it failed."""
        pause = PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return operation()
            except FINAL as error:
                if _code(error) == NO_BUCKET or isinstance(error, PermissionError | NotImplementedError):
                    raise self._error(error) from error
                raise
            except Exception as error:
                if attempt == ATTEMPTS or type(error).__name__ in CREDENTIALS:
                    raise self._error(error) from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _error(self, error: Exception) -> Unavailable:
        said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        if _code(error) == NO_BUCKET:
            return Unavailable(f"the store {self.address}: its bucket does not exist; create it first.")
        if isinstance(error, PermissionError):
            return Unavailable(f"the store {self.address} does not permit this ({said}): check your credentials.")
        if type(error).__name__ in CREDENTIALS:
            return Unavailable(
                f"the store {self.address} needs credentials ({said}): set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
            )
        return Unavailable(f"cannot reach the store {self.address} ({said}): check the connection and try again.")


def _file_system(address: str) -> Any:
    """Return the file system of an address, without caches: other machines change what is there."""
    protocol = address.partition("://")[0]
    if not re.fullmatch(r"[a-z0-9+.-]+://[^/\s].*|memory://.*", address):
        raise InputError(f"{address!r} is not the address of a store: write it like s3://bucket/path.")
    fsspec = extra("fsspec", EXTRAS.get(protocol, "s3"))
    if protocol in EXTRAS:
        try:
            extra("s3fs", EXTRAS[protocol])
        except MissingExtra:
            raise
        except ImportError as error:
            raise Unavailable(f"s3fs is installed but cannot be imported ({error}): install it again.") from error
    try:
        return fsspec.filesystem(protocol, use_listings_cache=False)
    except ImportError as error:
        raise MissingExtra(f"stores at {protocol}:// need another package: {error}") from error
    except ValueError as error:
        raise InputError(f"stores at {protocol}:// are not supported ({error}): use s3://bucket/path.") from error


def _code(error: BaseException) -> str:
    """Return the code that a server of S3 gave an error, which s3fs keeps in its cause; "" if there is none."""
    answer = getattr(error.__cause__, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))


def _mark(info: dict[str, Any]) -> str:
    """Return what changes with the content of an object: its hash where there is one, or else its time."""
    changed = info.get("ETag") or info.get("etag") or info.get("LastModified") or info.get("mtime")
    return f"{changed or info.get('created')} {info.get('size')}"
