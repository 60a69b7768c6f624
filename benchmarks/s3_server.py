"""A small S3 server in memory that counts requests: ``python s3_server.py`` prints its port.

It has what stores of Unweave use: objects with conditional writes, and listings in pages; anything else is refused.
Answers wait as long as those of S3 usually take. ``/counts`` returns, and forgets, the requests by kind and by the
first part of their keys; names of runs count as "runs", and are given in ``touched``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from bisect import bisect_left, insort
from collections import Counter
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

ANSWER, PAGE = 0.03, 0.15  # seconds that an answer takes, and a page of a listing
KEYS = 1000  # in a page
RUN = 16  # characters of the name of a run
REASONS = {200: "OK", 204: "No Content", 404: "Not Found", 412: "Precondition Failed", 501: "Not Implemented"}


class Object(NamedTuple):
    """An object of a bucket."""

    content: bytes
    etag: str
    written: float


class Answer(NamedTuple):
    """What is sent back."""

    status: int
    content: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Bucket:
    """The objects of one bucket."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self._keys: list[str] = []  # sorted

    def put(self, key: str, content: bytes, conditions: dict[str, str]) -> Answer:
        """Write an object, if it is as ``if-match`` and ``if-none-match`` expect."""
        found, wanted = self.objects.get(key), conditions.get("if-match")
        if wanted is not None and found is None:
            return _error(404, "NoSuchKey")
        if (wanted is not None and found is not None and found.etag != wanted) or (
            conditions.get("if-none-match") == "*" and found is not None
        ):
            return _error(412, "PreconditionFailed")
        if found is None:
            insort(self._keys, key)
        etag = f'"{hashlib.md5(content).hexdigest()}"'
        self.objects[key] = Object(content, etag, time.time())
        return Answer(200, headers=(("ETag", etag),))

    def get(self, key: str) -> Answer:
        """Return an object."""
        found = self.objects.get(key)
        if found is None:
            return _error(404, "NoSuchKey")
        return Answer(
            200, found.content, (("ETag", found.etag), ("Last-Modified", formatdate(found.written, usegmt=True)))
        )

    def delete(self, key: str) -> Answer:
        """Remove an object, whether it exists or not."""
        if self.objects.pop(key, None) is not None:
            del self._keys[bisect_left(self._keys, key)]
        return Answer(204)

    def page(self, prefix: str, after: str) -> Answer:
        """Return a page of the keys with a prefix."""
        start = bisect_left(self._keys, after + "\0" if after else prefix)
        end = start
        while end < len(self._keys) and end - start < KEYS and self._keys[end].startswith(prefix):
            end += 1
        keys = self._keys[start:end]
        more = end < len(self._keys) and self._keys[end].startswith(prefix)
        token = f"<NextContinuationToken>{escape(keys[-1])}</NextContinuationToken>" if more else ""
        contents = "".join(_entry(key, self.objects[key]) for key in keys)
        head = f"<IsTruncated>{'true' if more else 'false'}</IsTruncated><EncodingType>url</EncodingType>"
        body = f"<ListBucketResult>{head}<KeyCount>{len(keys)}</KeyCount>{token}{contents}</ListBucketResult>"
        return Answer(200, body.encode(), (("Content-Type", "application/xml"),))


class Server:
    """All buckets, and the requests that were made."""

    def __init__(self, buckets: dict[str, Bucket] | None = None) -> None:
        self._buckets = buckets or {}
        self._counts: Counter[str] = Counter()
        self._touched: set[str] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                if headers.get("expect") == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await reader.readexactly(int(headers.get("content-length") or 0))
                answer = await self._answer(method, target, headers, body)
                lines = [f"HTTP/1.1 {answer.status} {REASONS[answer.status]}", f"Date: {formatdate(usegmt=True)}"]
                lines += [f"{name}: {value}" for name, value in answer.headers]
                lines += [f"Content-Length: {len(answer.content)}", "", ""]
                writer.write("\r\n".join(lines).encode() + (b"" if method == "HEAD" else answer.content))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        split = urlsplit(target)
        if split.path == "/counts":
            found = json.dumps({"requests": self._counts, "touched": sorted(self._touched)}).encode()
            self._counts, self._touched = Counter(), set()
            return Answer(200, found)
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        name, _, key = unquote(split.path).removeprefix("/").partition("/")
        listing = query.pop("list-type", None) is not None
        self._count("LIST" if listing else method, query.get("prefix", "") if listing else key)
        await asyncio.sleep(PAGE if listing else ANSWER)
        if method == "PUT" and not key:
            self._buckets.setdefault(name, Bucket())
            return Answer(200)
        if name not in self._buckets:
            return _error(404, "NoSuchBucket")
        bucket = self._buckets[name]
        if listing and "delimiter" not in query:
            return bucket.page(query.get("prefix", ""), query.get("continuation-token", ""))
        if method == "PUT" and "transfer-encoding" not in headers and not query.keys() - {"x-id"}:
            return bucket.put(key, body, headers)
        if method in ("GET", "HEAD") and key and not query.keys() - {"x-id"}:
            return bucket.get(key)
        return bucket.delete(key) if method == "DELETE" and key else _error(501, "NotImplemented")

    def _count(self, kind: str, key: str) -> None:
        area = key.partition("/")[0] if "/" in key else ""
        is_run = len(area) == RUN and set(area) <= set("0123456789abcdef")
        self._counts[f"{kind} {'runs' if is_run else area or 'all'}"] += 1
        if is_run:
            self._touched.add(area)


def _entry(key: str, found: Object) -> str:
    written = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.written))
    return (
        f"<Contents><Key>{quote(key)}</Key><LastModified>{written}</LastModified><ETag>{escape(found.etag)}</ETag>"
        f"<Size>{len(found.content)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )


def _error(status: int, code: str) -> Answer:
    content = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
    return Answer(status, content.encode(), (("Content-Type", "application/xml"),))


async def main(store: Server) -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(store.serve, "127.0.0.1", 0, backlog=1024, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Server()))
