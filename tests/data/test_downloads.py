from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from tests.data.servers import Site, serve
from unweave.data.files import data_folder
from unweave.data.files.downloads import RemoteFile, checksum, fetch, verify
from unweave.errors import Unavailable

CONTENT = random.Random(0).randbytes(3_000_000)
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


def remote(site: Site, **facts: object) -> RemoteFile:
    return RemoteFile("file.bin", site.url, **facts)  # type: ignore[arg-type]


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_file_is_fetched_once_and_verified(tmp_path: Path) -> None:
    with serve(Site(CONTENT)) as site:
        path = fetch(remote(site, checksum=SHA256), tmp_path)
        assert path.read_bytes() == CONTENT
        assert fetch(remote(site, checksum=SHA256), tmp_path) == path
        assert len(site.requests) == 1
    assert leftovers(tmp_path) == ["file.bin"]


@pytest.mark.parametrize("etag", ['"v1"', None])
def test_a_broken_download_goes_on_where_it_stopped(tmp_path: Path, etag: str | None) -> None:
    with serve(Site(CONTENT, etag=etag, cut_after=1_000_000)) as site:
        with pytest.raises(Unavailable, match=r"ended after .* of 3,000,000 bytes.*again to resume.*save it as"):
            fetch(remote(site, checksum=SHA256), tmp_path)
        assert not (tmp_path / "file.bin").exists()
        done = (tmp_path / "file.bin.part").stat().st_size
        assert 0 < done <= 1_000_000
        site.cut_after = None
        assert fetch(remote(site, checksum=SHA256), tmp_path).read_bytes() == CONTENT
        assert site.requests[-1]["range"] == f"bytes={done}-"
    assert leftovers(tmp_path) == ["file.bin"]


def test_a_server_that_forgets_ranges_starts_again(tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(b"another beginning")
    with serve(Site(CONTENT, ranges=False)) as site:
        assert fetch(remote(site, checksum=SHA256), tmp_path).read_bytes() == CONTENT


def test_a_part_of_another_version_is_not_built_upon(tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(b"x" * 1000)
    with serve(Site(CONTENT)) as site:
        assert fetch(remote(site, checksum=SHA256), tmp_path).read_bytes() == CONTENT
        assert len(site.requests) == 2  # resumed, found wrong, fetched anew
    with serve(Site(CONTENT, etag='"new"')) as site:
        folder = tmp_path / "tagged"
        folder.mkdir()
        (folder / "file.bin.part").write_bytes(b"x" * 1000)
        (folder / "file.bin.part.version").write_text('"old" 3000000')
        assert fetch(remote(site), folder).read_bytes() == CONTENT  # no checksum: the tag alone tells
    assert leftovers(folder) == ["file.bin"]


def test_without_any_checksum_the_length_must_be_the_same(tmp_path: Path) -> None:
    with serve(Site(CONTENT, cut_after=1_000_000)) as site:
        with pytest.raises(Unavailable, match="again to resume"):
            fetch(remote(site), tmp_path)
        site.cut_after = None
        assert fetch(remote(site), tmp_path).read_bytes() == CONTENT
        assert "range" in site.requests[-1]
    with serve(Site(CONTENT, cut_after=1_000_000)) as site:
        folder = tmp_path / "changed"
        with pytest.raises(Unavailable, match="again to resume"):
            fetch(remote(site), folder)
        site.cut_after, site.content = None, CONTENT[::-1] + b"!"
        assert fetch(remote(site), folder).read_bytes() == CONTENT[::-1] + b"!"


def test_a_web_page_in_between_spoils_nothing(tmp_path: Path) -> None:
    with serve(Site(CONTENT, cut_after=1_000_000)) as site:
        with pytest.raises(Unavailable, match="again to resume"):
            fetch(remote(site), tmp_path)
        site.cut_after, site.content_type = None, "text/html"
        with pytest.raises(Unavailable, match="a web page"):
            fetch(remote(site), tmp_path)
        site.content_type = "application/octet-stream"
        assert fetch(remote(site), tmp_path).read_bytes() == CONTENT
        assert "range" in site.requests[-1]


def test_a_part_that_is_too_long_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT + b"more")
    (tmp_path / "file.bin.part.version").write_text(" 3000000")
    with serve(Site(CONTENT)) as site:
        with pytest.raises(Unavailable, match="416"):
            fetch(remote(site), tmp_path)
        assert fetch(remote(site), tmp_path).read_bytes() == CONTENT


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="Set UNWEAVE_DATA to another folder"):
        fetch(RemoteFile("file.bin", "http://127.0.0.1:9/file.bin"), tmp_path / "file")


def test_a_whole_part_needs_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    with serve(Site(CONTENT)) as site:
        assert fetch(remote(site, checksum=SHA256), tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_names_both_and_keeps_nothing(tmp_path: Path) -> None:
    wrong = hashlib.sha256(b"other").hexdigest()
    with serve(Site(CONTENT)) as site, pytest.raises(Unavailable, match=f"{wrong} but is {SHA256[7:]}"):
        fetch(remote(site, checksum=f"sha256:{wrong}"), tmp_path)
    assert leftovers(tmp_path) == []


def test_a_truncated_file_that_lies_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT[:100])
    with serve(Site(CONTENT)) as site:
        with pytest.raises(Unavailable, match=r"file.bin is not the published file.*100 bytes of 3,000,000"):
            fetch(remote(site, checksum=SHA256, size=len(CONTENT)), tmp_path)
        with pytest.raises(Unavailable, match="should have 3,000,000 bytes but has 100"):
            fetch(remote(site, size=len(CONTENT)), tmp_path)


@pytest.mark.parametrize(
    ("site", "reason"),
    [(Site(CONTENT, status=404), "404"), (Site(b"<html>", content_type="text/html; charset=utf-8"), "a web page")],
)
def test_a_server_that_refuses_says_where_to_put_the_file(tmp_path: Path, site: Site, reason: str) -> None:
    with serve(site), pytest.raises(Unavailable, match=rf"{reason}.*save it as .*file\.bin"):
        fetch(remote(site), tmp_path)
    assert leftovers(tmp_path) == []


def test_no_network_says_where_to_put_the_file(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"could not download http://127.0.0.1:9/.*save it as .*file\.bin"):
        fetch(RemoteFile("file.bin", "http://127.0.0.1:9/file.bin"), tmp_path)


def test_checksums_by_every_published_algorithm(tmp_path: Path) -> None:
    path = tmp_path / "hello"
    path.write_bytes(b"hello\n")
    assert checksum(path, "md5") == "b1946ac92492d2347c6235b4d2611184"
    assert checksum(path, "git") == "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
    verify(path, RemoteFile("hello", "", checksum="git:ce013625030ba8dba906f756967f9e9ca394464a"))


def test_the_folder_is_the_users_choice_or_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    assert data_folder("dsprites") == tmp_path / "dsprites"
    monkeypatch.delenv("UNWEAVE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder("dsprites").parts[-2:] == ("unweave", "dsprites")


def test_a_mirror_continues_what_the_first_address_began(tmp_path: Path) -> None:
    with serve(Site(CONTENT, etag='"a"', cut_after=1_000_000)) as first, serve(Site(CONTENT, etag='"b"')) as mirror:
        file = remote(first, checksum=SHA256, mirrors=(mirror.url,))
        assert fetch(file, tmp_path).read_bytes() == CONTENT
        assert 0 < int(mirror.requests[0]["range"].removeprefix("bytes=").removesuffix("-")) <= 1_000_000
    assert leftovers(tmp_path) == ["file.bin"]


def test_a_mirror_replaces_an_address_that_is_gone_or_has_another_file(tmp_path: Path) -> None:
    with serve(Site(b"", status=404)) as gone, serve(Site(CONTENT[::-1])) as other, serve(Site(CONTENT)) as mirror:
        for number, first in enumerate((gone, other)):
            file = remote(first, checksum=SHA256, mirrors=(mirror.url,))
            assert fetch(file, tmp_path / str(number)).read_bytes() == CONTENT
        file = remote(gone, checksum=SHA256, mirrors=(other.url,))
        with pytest.raises(
            Unavailable, match=r"404 Not Found.*; http.*this is not the published file: its sha256.*save it as"
        ):
            fetch(file, tmp_path / "none")


def test_a_mirror_continues_what_an_address_of_unknown_length_began(tmp_path: Path) -> None:
    with serve(Site(CONTENT, chunked=True, cut_after=1_500_000)) as first, serve(Site(CONTENT)) as mirror:
        file = remote(first, checksum=SHA256, mirrors=(mirror.url,))
        assert fetch(file, tmp_path).read_bytes() == CONTENT
        assert "range" in mirror.requests[0]
    assert leftovers(tmp_path) == ["file.bin"]


def test_redirects_are_followed_and_a_loop_of_them_is_one_sentence(tmp_path: Path) -> None:
    with serve(Site(CONTENT)) as site:
        site.redirects = {"/old": "/new", "/new": site.url, "/loop": "/loop"}
        start = site.url.removesuffix("/file.bin")
        assert fetch(RemoteFile("file.bin", f"{start}/old", checksum=SHA256), tmp_path).read_bytes() == CONTENT
        with pytest.raises(Unavailable, match=r"answered 302 [^\n]*infinite loop\)\. Run the same command"):
            fetch(RemoteFile("loop.bin", f"{start}/loop"), tmp_path)


def test_a_server_that_gives_no_reason_is_one_sentence(tmp_path: Path) -> None:
    with serve(Site(CONTENT, status=599)) as site, pytest.raises(Unavailable, match=r"the server answered 599\)\. Run"):
        fetch(remote(site), tmp_path)


def test_a_mirror_with_another_length_leaves_the_part_alone(tmp_path: Path) -> None:
    with serve(Site(CONTENT, cut_after=1_000_000)) as first, serve(Site(CONTENT[:-1])) as mirror:
        with pytest.raises(Unavailable, match="its length is not that of the part from another address"):
            fetch(remote(first, checksum=SHA256, mirrors=(mirror.url,)), tmp_path)
        done = (tmp_path / "file.bin.part").stat().st_size
        first.cut_after = None
        assert fetch(remote(first, checksum=SHA256), tmp_path).read_bytes() == CONTENT
        assert first.requests[-1]["range"] == f"bytes={done}-"
