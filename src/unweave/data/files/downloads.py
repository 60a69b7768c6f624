"""Download published files: resumed after an interruption, verified before use."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass, replace
from email.message import Message
from http.client import HTTPException
from pathlib import Path
from typing import IO

from filelock import FileLock

from unweave.errors import Unavailable
from unweave.progress import progress

BLOCK = 1 << 20  # bytes read at a time
UNKNOWN = "unknown"  # the length of a file whose server does not say it


@dataclass(frozen=True)
class RemoteFile:
    """A published file: its name on disk, its address, and its published size and checksum."""

    name: str
    url: str
    size: int | None = None  # in bytes, if published
    checksum: str | None = None  # "md5:…", "sha256:…" or "git:…" (the name of a git blob), if published
    about: str = ""  # the approximate size, if the exact one is not published
    mirrors: tuple[str, ...] = ()  # other addresses, used in turn if the first fails

    def __str__(self) -> str:
        size = f"{self.size:,} bytes" if self.size else self.about
        facts = ", ".join(filter(None, [size, self.checksum or "no published checksum"]))
        return " or ".join([self.url, *self.mirrors]) + f" ({facts})"


def checksum(path: Path, algorithm: str) -> str:
    """Return the hexadecimal digest of a file; ``git`` is the name that git gives to its content."""
    digest = hashlib.sha1() if algorithm == "git" else hashlib.new(algorithm)
    if algorithm == "git":
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def verify(path: Path, file: RemoteFile) -> None:
    """Compare a file with its published checksum or size; raise Unavailable if they differ."""
    if difference := _difference(path, file):
        raise Unavailable(f"{path} is not the published file: {difference}. Delete it and fetch it again.")


def _difference(path: Path, file: RemoteFile) -> str:
    size = path.stat().st_size
    if file.checksum is not None:
        algorithm, _, expected = file.checksum.partition(":")
        actual = checksum(path, algorithm)
        of = f" of {file.size:,}" if file.size else ""
        return "" if actual == expected else f"its {algorithm} should be {expected} but is {actual}, {size:,} bytes{of}"
    if file.size is not None and size != file.size:
        return f"it should have {file.size:,} bytes but has {size:,}"
    return ""


def fetch(file: RemoteFile, folder: Path) -> Path:
    """Download a file into a folder unless a verified copy is there; an interrupted download is resumed.

    If an address fails, its mirrors are tried; they continue what was downloaded if the length of their file agrees.
    """
    path, part = folder / file.name, folder / f"{file.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{file.name}.lock").acquire()
    except OSError as error:
        raise Unavailable(
            f"cannot use {folder}: {error.strerror or error}. Set UNWEAVE_DATA to another folder."
        ) from error
    with lock:
        if path.exists():
            verify(path, file)
            return path
        failures = []
        for url in (file.url, *file.mirrors):
            try:
                _fetch_from(replace(file, url=url), part)
            except Unavailable as error:
                failures.append(f"{url} ({error})")
            else:
                part.replace(path)
                return path
    raise Unavailable(
        f"could not download {'; '.join(failures)}. Run the same command again to resume, or download the file "
        f"elsewhere and save it as {path}."
    )


def _fetch_from(file: RemoteFile, part: Path) -> None:
    """Download and verify a file, and start again once if a resumed download is not the published file."""
    for resumed in (part.exists(), False):
        _download(file, part)
        difference = _difference(part, file)
        if not difference:
            return
        part.unlink()  # the next download must not resume it
        if not resumed:
            raise Unavailable(f"this is not the published file: {difference}")


def _download(file: RemoteFile, part: Path) -> None:
    """Resume a partial download, or start again if the file on the server has changed."""
    version = part.with_name(f"{part.name}.version")  # address, tag and length of the file that the part belongs to
    done = part.stat().st_size if part.exists() and (version.exists() or file.checksum) else 0
    request = urllib.request.Request(file.url, headers={"User-Agent": "unweave"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            headers = response.headers
            if "text/html" in headers.get("Content-Type", ""):
                raise Unavailable("the server answered with a web page")
            said = _version(file.url, headers, response.status)
            before = version.read_text() if done and version.exists() else said
            if file.mirrors and before.split("\n")[0] != file.url:  # another address: the checksum will tell
                lengths = {before.split("\n")[-1], said.split("\n")[-1]} - {UNKNOWN}
                if not file.checksum or len(lengths) > 1:
                    raise Unavailable("its length is not that of the part from another address")
                before = said
            if done and (response.status != 206 or before != said):
                part.unlink()  # the server sends the whole file, or has another one now
                done = 0
                if response.status == 206:
                    version.unlink()
                    return _download(file, part)
            version.write_text(said)
            _save(response, part, done, _total(headers, done) or file.size, file.name)
    except urllib.error.HTTPError as error:
        whole = _total_of_range(error.headers)  # a 416 response has the length of the file
        if error.code != 416 or (whole is not None and whole != done):
            if error.code == 416:
                part.unlink()  # longer than the file: the next attempt starts again
            said = str(error.reason).partition("\n")[0].rstrip(" .")
            raise Unavailable(f"the server answered {error.code} {said}".rstrip()) from error
    except Unavailable:
        raise
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error.strerror if isinstance(error, OSError) else None
        raise Unavailable(str(reason or error)) from error
    version.unlink(missing_ok=True)
    return None


def _version(url: str, headers: Message, status: int) -> str:
    """Return the address, the tag or date that the server gives its file, and the length of the file, one per line."""
    tag = headers.get("ETag") or headers.get("Last-Modified") or ""
    length = _total_of_range(headers) if status == 206 else _total(headers, 0)
    return f"{url}\n{tag}\n{UNKNOWN if length is None else length}"


def _total(headers: Message, done: int) -> int | None:
    length = headers.get("Content-Length", "")
    return done + int(length) if length.isdecimal() else None


def _total_of_range(headers: Message) -> int | None:
    total = headers.get("Content-Range", "").rpartition("/")[2]
    return int(total) if total.isdecimal() else None


def _save(response: IO[bytes], part: Path, done: int, total: int | None, name: str) -> None:
    if total and shutil.disk_usage(part.parent).free < total - done:
        raise Unavailable(
            f"{name} needs {total - done:,} bytes, but the disk of {part.parent} does not have that much free space."
        )
    with part.open("r+b" if done else "wb") as stream, progress(name, total, done=done, unit="bytes") as advance:
        stream.seek(done)
        while block := response.read(BLOCK):
            stream.write(block)
            advance(len(block))
        stream.flush()
        os.fsync(stream.fileno())
    if total and part.stat().st_size < total:
        raise ConnectionError(f"the connection ended after {part.stat().st_size:,} of {total:,} bytes")
