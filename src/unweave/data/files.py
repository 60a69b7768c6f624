"""Where data files live, and how published ones get there: resumed after a break, verified before use."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from pathlib import Path
from typing import IO

import platformdirs
from filelock import FileLock

from unweave.errors import Unavailable
from unweave.progress import progress

BLOCK = 1 << 20  # bytes read at a time


@dataclass(frozen=True)
class RemoteFile:
    """A published file: its name on disk, its address, and what its publisher says of its content."""

    name: str
    url: str
    size: int | None = None  # bytes, where published
    checksum: str | None = None  # "md5:…", "sha256:…" or "git:…" (a git blob's name), where published
    about: str = ""  # its size in words, where the exact one is not published

    def __str__(self) -> str:
        size = f"{self.size:,} bytes" if self.size else self.about
        return f"{self.url} ({', '.join(filter(None, [size, self.checksum or 'no published checksum']))})"


def data_folder(name: str = "") -> Path:
    """The folder of data set ``name`` under ``UNWEAVE_DATA``, by default the platform's cache folder."""
    root = os.environ.get("UNWEAVE_DATA")
    return (Path(root).expanduser() if root else platformdirs.user_cache_path("unweave")) / name


def checksum(path: Path, algorithm: str) -> str:
    """The hexadecimal digest of a file; ``git`` is the name that git gives to the content."""
    digest = hashlib.sha1() if algorithm == "git" else hashlib.new(algorithm)
    if algorithm == "git":
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def verify(path: Path, file: RemoteFile) -> None:
    """Compare a file with what its publisher says, or name both sides of the difference."""
    if file.checksum is not None:
        algorithm, _, expected = file.checksum.partition(":")
        actual = checksum(path, algorithm)
        if actual != expected:
            raise Unavailable(
                f"{path} is not the published file: its {algorithm} should be {expected} and is {actual}, "
                f"{path.stat().st_size:,} bytes{f' of {file.size:,}' if file.size else ''}. "
                "Delete it and fetch it again."
            )
    elif file.size is not None and path.stat().st_size != file.size:
        raise Unavailable(
            f"{path} is not the published file: it should have {file.size:,} bytes and has {path.stat().st_size:,}. "
            "Delete it and fetch it again."
        )


def fetch(file: RemoteFile, folder: Path) -> Path:
    """Download a file into a folder unless a verified copy is there, going on where a broken download stopped."""
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
        resumed = part.exists()
        _download(file, part, path)
        try:
            verify(part, file)
        except Unavailable:
            part.unlink()  # what follows must not build on it
            if not resumed:
                raise
            _download(file, part, path)
            verify(part, file)
        part.replace(path)
    return path


def _download(file: RemoteFile, part: Path, path: Path) -> None:
    """Complete the part, or start it anew where the server's file is not the one that the part belongs to."""
    version = part.with_name(f"{part.name}.version")  # what the server said of the file that the part belongs to
    done = part.stat().st_size if part.exists() and (version.exists() or file.checksum) else 0
    request = urllib.request.Request(file.url, headers={"User-Agent": "unweave"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            headers = response.headers
            if "text/html" in headers.get("Content-Type", ""):
                raise Unavailable(_by_hand(file, path, "the server answered with a web page"))
            said = _version(headers, response.status)
            if done and (response.status != 206 or (version.exists() and version.read_text() != said)):
                part.unlink()  # the server starts from the beginning, or has another file now
                done = 0
                if response.status == 206:
                    version.unlink()
                    return _download(file, part, path)
            version.write_text(said)
            _save(response, part, done, _total(headers, done) or file.size, file.name)
    except urllib.error.HTTPError as error:
        whole = _total_of_range(error.headers)  # a 416 names the whole length
        if error.code != 416 or (whole is not None and whole != done):
            if error.code == 416:
                part.unlink()  # longer than the file: the next try starts from the beginning
            raise Unavailable(_by_hand(file, path, f"the server answered {error.code} {error.reason}")) from error
    except Unavailable:
        raise
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error.strerror if isinstance(error, OSError) else None
        raise Unavailable(_by_hand(file, path, str(reason or error))) from error
    version.unlink(missing_ok=True)
    return None


def _version(headers: Message, status: int) -> str:
    """The server's tag or date for its file, and the file's whole length."""
    tag = headers.get("ETag") or headers.get("Last-Modified") or ""
    length = _total_of_range(headers) if status == 206 else _total(headers, 0)
    return f"{tag} {length}"


def _total(headers: Message, done: int) -> int | None:
    length = headers.get("Content-Length", "")
    return done + int(length) if length.isdecimal() else None


def _total_of_range(headers: Message) -> int | None:
    total = headers.get("Content-Range", "").rpartition("/")[2]
    return int(total) if total.isdecimal() else None


def _save(response: IO[bytes], part: Path, done: int, total: int | None, name: str) -> None:
    if total and shutil.disk_usage(part.parent).free < total - done:
        raise Unavailable(f"{name} needs {total - done:,} bytes and the disk under {part.parent} has fewer free.")
    with part.open("r+b" if done else "wb") as stream, progress(name, total, done=done, unit="bytes") as advance:
        stream.seek(done)
        while block := response.read(BLOCK):
            stream.write(block)
            advance(len(block))
        stream.flush()
        os.fsync(stream.fileno())
    if total and part.stat().st_size < total:
        raise ConnectionError(f"the connection ended after {part.stat().st_size:,} of {total:,} bytes")


def _by_hand(file: RemoteFile, path: Path, reason: str) -> str:
    return (
        f"could not download {file.url} ({reason}). Run the same command again to go on where it stopped, or download "
        f"the file elsewhere and put it at {path}."
    )
