"""Where data files live, and how published ones get there: resumed after a break, verified before use."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

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
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{file.name}.lock"):
        if not path.exists():
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
        else:
            verify(path, file)
    return path


def _download(file: RemoteFile, part: Path, path: Path) -> None:
    tag = part.with_name(f"{part.name}.tag")  # the server's name for the version that the part belongs to
    done = part.stat().st_size if part.exists() and (tag.exists() or file.checksum) else 0
    request = urllib.request.Request(file.url, headers={"User-Agent": "unweave"})
    if done:
        request.add_header("Range", f"bytes={done}-")
        if tag.exists():
            request.add_header("If-Range", tag.read_text())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            if response.status != 206:  # the server starts from the beginning
                done = 0
                tag.unlink(missing_ok=True)
                if response.headers.get("ETag"):
                    tag.write_text(response.headers["ETag"])
            if "text/html" in response.headers.get("Content-Type", "") and not file.name.endswith(".html"):
                raise Unavailable(_by_hand(file, path, "the server answered with a web page"))
            length = response.headers.get("Content-Length")
            total = done + int(length) if length else file.size
            _save(response, part, done, total, file.name)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: nothing is left to send, so the part is whole or wrong, as verify will tell
            raise Unavailable(_by_hand(file, path, f"the server answered {error.code} {error.reason}")) from error
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise Unavailable(_by_hand(file, path, str(reason))) from error
    tag.unlink(missing_ok=True)


def _save(response: object, part: Path, done: int, total: int | None, name: str) -> None:
    read = getattr(response, "read")  # noqa: B009
    if total and shutil.disk_usage(part.parent).free < total - done:
        raise Unavailable(f"{name} needs {total - done:,} bytes and the disk under {part.parent} has fewer free.")
    with part.open("r+b" if done else "wb") as stream, progress(name, total, done=done, unit="bytes") as advance:
        stream.seek(done)
        while block := read(BLOCK):
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
