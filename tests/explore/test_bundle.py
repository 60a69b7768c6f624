from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

from unweave.explore.offline_page import FOLDERS, HERE, RUNTIME, make_page, modules_of, pack, runtime


def text_of(url: str) -> str:
    return base64.b64decode(url.removeprefix("data:text/javascript;base64,")).decode()


def test_every_import_of_every_module_is_in_the_map() -> None:
    modules = modules_of("unweave/main")
    assert {"unweave/run-view", "unweave/onnx-source", "unweave/latents", "onnxruntime-web"} <= set(modules)
    assert "unweave/server-source" not in modules
    for name, url in modules.items():
        if name != "onnxruntime-web":
            imported = re.findall(r'from "([^"]+)"', text_of(url))
            assert set(imported) <= set(modules), name
    assert text_of(modules["unweave/main"]) == (HERE / "offline" / "main.js").read_text(encoding="utf-8")


def test_no_module_hides_another_one() -> None:
    served, offline = ({path.name for path in folder.glob("*.js")} for folder in FOLDERS)
    assert served & offline == {"main.js"}


def test_a_page_holds_what_was_packed_and_names_no_other_host() -> None:
    page = make_page("<b> & co", {"material": pack(b"</script> and more")})
    assert "<title>&lt;b&gt; &amp; co</title>" in page
    (stored,) = re.findall(r'id="material">([^<]*)</script>', page)
    assert gzip.decompress(base64.b64decode(stored)) == b"</script> and more"
    modules = json.loads(re.findall(r'<script type="importmap">(.*?)</script>', page)[0])["imports"]
    assert all(url.startswith("data:text/javascript;base64,") for url in modules.values())
    assert not re.search(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", page)
    assert "default-src 'none'" in page
    assert "Copyright (c) Microsoft Corporation" in page


def test_the_same_content_gives_the_same_page() -> None:
    assert make_page("a", {"x": pack(b"1")}) == make_page("a", {"x": pack(b"1")})


def test_the_runtime_is_the_published_one() -> None:
    found = hashlib.sha256(gzip.decompress(runtime())).hexdigest()
    assert f"`{found}`" in (RUNTIME / "README.md").read_text(encoding="utf-8")
    assert (RUNTIME / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
