"""Model files: safetensors, with a JSON text in the metadata that holds a SHA-256 of the file around it."""

import base64
import copy
import hashlib
import json
import math
import struct

from make._patch import patched

# `eigenspan fit a.csv --dim 2 --center -o a.espan`, with a.csv of 4 × 3 numbers.
VALID = base64.b64decode(
    """
    6AMAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJlaWdlbnNwYW4iOiJ7XCJmb3JtYXRcIjoyLFwiY2hlY2tzdW1cIjpcIjQyMzRhYzMyNTc2MTNkNmY3
    NWE4YTZhNDkwNWVmNDUxNDhlOTZhNTZjYjkzNjdlOTk3MTE2ZDVmZDFlZDE3NTRcIixcIm1ldGhvZFwiOlwicGNlXCIsXCJuXCI6NCxcIm51bWJl
    cl90eXBlXCI6XCJmNjRcIixcImltYWdlXCI6bnVsbCxcInBhcmFtc1wiOntcImxhbWJkYVwiOntcInJ1bGVcIjpcImF1dG9cIn0sXCJkaW1cIjp7
    XCJmaXhlZFwiOjJ9LFwicmFua19ydWxlXCI6XCJ0aGVvcmVtXCIsXCJub3JtYWxpemVcIjpcInVuaXRcIixcImNlbnRlclwiOnRydWUsXCJ3ZWln
    aHRzXCI6XCJoYXJkXCIsXCJzdHJpY3RcIjpmYWxzZX0sXCJsYW1iZGFfcnVsZVwiOlwiZGltXCIsXCJrXCI6MixcImtfaW50ZXJ2YWxcIjpbMiwy
    XSxcInNvbHZlclwiOlwicXItc3ZkXCIsXCJjZXJ0aWZpZWRcIjp0cnVlLFwid2h5XCI6XCJrID0gMjogMiBvZiAzIHNpbmd1bGFyIHZhbHVlcyBh
    cmUgYWJvdmUgz4QgPSAwLjIxMDkgKHRoZSBkaW1lbnNpb24gdGhhdCB3YXMgZ2l2ZW4pOyDPg18yID0gMC43MTg4IGFuZCDPg18zID0gMC4wNjE5
    XCIsXCJ3YXJuaW5nc1wiOltdLFwicHJvdmVuYW5jZVwiOntcImVpZ2Vuc3BhblwiOlwiMC4xLjBcIixcImRhdGFcIjpcImEuY3N2XCIsXCJkYXRh
    X3NoYTI1NlwiOlwiMjIxZjliYTU5YzY1NmUwYTU4NGYyYjVkOTE5ZWY1M2RlYzA5M2I0MTNlNjRkNzEyNDExYmMzMjUxMjM5MmMwYlwiLFwic2Vl
    ZFwiOm51bGx9fSJ9LCJiYXNpcyI6eyJkdHlwZSI6IkY2NCIsInNoYXBlIjpbMywyXSwiZGF0YV9vZmZzZXRzIjpbMCw0OF19LCJjdXQiOnsiZHR5
    cGUiOiJGNjQiLCJzaGFwZSI6WzNdLCJkYXRhX29mZnNldHMiOls0OCw3Ml19LCJtZWFuIjp7ImR0eXBlIjoiRjY0Iiwic2hhcGUiOlszXSwiZGF0
    YV9vZmZzZXRzIjpbNzIsOTZdfSwic2lnbWEiOnsiZHR5cGUiOiJGNjQiLCJzaGFwZSI6WzNdLCJkYXRhX29mZnNldHMiOls5NiwxMjBdfX0gICAg
    HJ6FOsOi1b/FtH1AKEXoP9SRoi1jlsG/fYoVzGZ44T+65/62FcvtP3dUAZ4JyNY/Qw/sEar/yj/4fobxD3o2QM+mVPuVz/k/s8OZh69fxj9x7BqM
    Fk7YP3cDPanNvto/lXhAlwcW9z9TBPwtHADnP0BdI7Alsa8/
    """
)

# `eigenspan fit a.csv --method npe --dim 2 --neighbours 2 -o a.espan`, with a.csv of 5 × 3 numbers.
NPE = base64.b64decode(
    """
    AAQAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJlaWdlbnNwYW4iOiJ7XCJmb3JtYXRcIjozLFwiY2hlY2tzdW1cIjpcIjE2MjgzOTA5YzNiNTM5ZTFj
    MTllZjI5OGQ1OGRlMjhkZmFiOGYyMWQwYzEzZjA3NTdjMDJjNzRkMzc0ODgzNjhcIixcIm1ldGhvZFwiOlwibnBlXCIsXCJmYWN0c1wiOntcImFi
    b3V0XCI6e1wicGFyYW1zXCI6e1wibmVpZ2hib3Vyc1wiOjIsXCJyaWRnZVwiOjAuMDAxLFwiZGltXCI6e1wiZml4ZWRcIjoyfSxcIm5vcm1hbGl6
    ZVwiOlwibm9uZVwiLFwiY2VudGVyXCI6dHJ1ZSxcImtlZXBfbWVhblwiOmZhbHNlLFwiZmxvb3JcIjpudWxsLFwibGVhc3RcIjpudWxsLFwiY29s
    dW1uc1wiOlwiY29uc3RyYWludFwifSxcIm5cIjo1LFwibnVtYmVyX3R5cGVcIjpcImY2NFwiLFwiaW1hZ2VcIjpudWxsLFwid2h5XCI6XCJrID0g
    MjogZWlnZW52YWx1ZXMgZnJvbSAwLjg0NzYgZG93biB0byAwLjY3MzQgb2YgdGhlIGdyYXBoIGluIHdoaWNoIGV2ZXJ5IHNhbXBsZSBpcyBtYWRl
    IG9mIGl0cyAyIG5lYXJlc3RcIixcInRyYWNlXCI6e1wibWVhc3VyZVwiOlwiXCIsXCJ2YWx1ZXNcIjpbXSxcInJvdW5kc1wiOjAsXCJzdG9wXCI6
    XCJkaXJlY3RcIn0sXCJ3YXJuaW5nc1wiOltdfSxcIm5vcm1hbGl6ZVwiOlwibm9uZVwiLFwiY2VudHJlZFwiOnRydWUsXCJ1bml0X2ZlYXR1cmVz
    XCI6ZmFsc2V9LFwicHJvdmVuYW5jZVwiOntcImVpZ2Vuc3BhblwiOlwiMC4xLjBcIixcImRhdGFcIjpcImEuY3N2XCIsXCJkYXRhX3NoYTI1Nlwi
    OlwiNjcwZTAwNDVlNTVkMTg4NjE4M2ZkYTAxZWZkNzM0YTZlNzNiZThkOTIwNTlkODk5MzIzNmQwOTUwY2JhMDZiMFwiLFwic2VlZFwiOm51bGx9
    fSJ9LCJtZWFuIjp7ImR0eXBlIjoiRjY0Iiwic2hhcGUiOlsxLDNdLCJkYXRhX29mZnNldHMiOlswLDI0XX0sInRoZXRhIjp7ImR0eXBlIjoiRjY0
    Iiwic2hhcGUiOlszLDJdLCJkYXRhX29mZnNldHMiOlsyNCw3Ml19LCJ2YWx1ZXMiOnsiZHR5cGUiOiJGNjQiLCJzaGFwZSI6WzEsMl0sImRhdGFf
    b2Zmc2V0cyI6WzcyLDg4XX19ICAgICAgZmZmZmZm9j8AAAAAAADwP2ZmZmZmZvY/mNU1LQzN4D/yiUBN+tTAP2oU1GawyLU/1pv/QTbXmL970LmE
    0pPJP64mmqux+t4/9NbVDKwf6z+OAAQpHIzlPw==
    """
)

# `eigenspan fit a.csv --label kind --method pce-auto -o a.espan`, with a.csv of 8 × 2 numbers in two classes.
SOFT = base64.b64decode(
    """
    OAcAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJlaWdlbnNwYW4iOiJ7XCJmb3JtYXRcIjo0LFwiY2hlY2tzdW1cIjpcIjJmZDg0NjkwMzZjMDJjYmFm
    YjRjMjUzODU4MGQxYmZjMGE2MmFlYzNmMWM0MGNlYzNkN2ZiZTllNzgxOTk5YmRcIixcIm1ldGhvZFwiOlwicGNlXCIsXCJuXCI6OCxcIm51bWJl
    cl90eXBlXCI6XCJmNjRcIixcImltYWdlXCI6bnVsbCxcInBhcmFtc1wiOntcImxhbWJkYVwiOntcInJ1bGVcIjpcImF1dG9cIn0sXCJkaW1cIjpc
    ImF1dG9cIixcInJhbmtfcnVsZVwiOlwidGhlb3JlbVwiLFwibm9ybWFsaXplXCI6XCJ1bml0XCIsXCJjZW50ZXJcIjpmYWxzZSxcIndlaWdodHNc
    IjpcImF1dG9cIixcInN0cmljdFwiOmZhbHNlLFwidW5pdF9mZWF0dXJlc1wiOnRydWV9LFwibGFtYmRhX3J1bGVcIjpcImF1dG9cIixcImtcIjox
    LFwia19pbnRlcnZhbFwiOlsxLDFdLFwic29sdmVyXCI6XCJxci1zdmRcIixcImNlcnRpZmllZFwiOnRydWUsXCJ3aHlcIjpcImsgPSAxOiAxIG9m
    IDIgc2luZ3VsYXIgdmFsdWVzIGFyZSBhYm92ZSDPhCA9IDEuNjg1ICgwLjUgz4TigoAgYnkgdGhlIGNsYXNzZXM7IM+E4oKAOiBvcHRpbWFsIGhh
    cmQgdGhyZXNob2xkOyBub2lzZSBvZiBkZXZpYXRpb24gNS4zMTcgcmVhZCBvZmYgdGhlIG1lZGlhbiwgZGVjaWRlZCBvbiB0aGUgZGF0YSBiZWZv
    cmUgc2NhbGluZyk7IM+DXzEgPSAyLjY1NiBhbmQgz4NfMiA9IDAuOTczMTsgc29mdCB3ZWlnaHRzIG9mIDIgZGlyZWN0aW9ucyBkb3duIHRvIM+E
    LzIsIM6zID0gMTogb2YgMTAgY2hvaWNlcyB0aGlzIGtub3dzIG1vc3Qgb2YgOCBzYW1wbGVzIGJ5IHRoZWlyIG5lYXJlc3QgbmVpZ2hib3VyLCA3
    NS4wICVcIixcIndhcm5pbmdzXCI6W10sXCJjaG9zZW5cIjp7XCJnYW1tYVwiOjEuMCxcImZhY3RvclwiOjAuNSxcInRyaWVkXCI6OCxcInNlZWRc
    IjowLFwidHJpYWxzXCI6W3tcImZhY3RvclwiOjAuNSxcImdhbW1hXCI6MC4wLFwiY29sdW1uc1wiOjIsXCJrbm93blwiOjZ9LHtcImZhY3Rvclwi
    OjAuNSxcImdhbW1hXCI6MC4yNSxcImNvbHVtbnNcIjoyLFwia25vd25cIjo2fSx7XCJmYWN0b3JcIjowLjUsXCJnYW1tYVwiOjAuNSxcImNvbHVt
    bnNcIjoyLFwia25vd25cIjo2fSx7XCJmYWN0b3JcIjowLjUsXCJnYW1tYVwiOjAuNzUsXCJjb2x1bW5zXCI6MixcImtub3duXCI6Nn0se1wiZmFj
    dG9yXCI6MC41LFwiZ2FtbWFcIjoxLjAsXCJjb2x1bW5zXCI6MixcImtub3duXCI6Nn0se1wiZmFjdG9yXCI6MS4wLFwiZ2FtbWFcIjowLjAsXCJj
    b2x1bW5zXCI6MSxcImtub3duXCI6NH0se1wiZmFjdG9yXCI6MS4wLFwiZ2FtbWFcIjowLjI1LFwiY29sdW1uc1wiOjEsXCJrbm93blwiOjR9LHtc
    ImZhY3RvclwiOjEuMCxcImdhbW1hXCI6MC41LFwiY29sdW1uc1wiOjEsXCJrbm93blwiOjR9LHtcImZhY3RvclwiOjEuMCxcImdhbW1hXCI6MC43
    NSxcImNvbHVtbnNcIjoxLFwia25vd25cIjo0fSx7XCJmYWN0b3JcIjoxLjAsXCJnYW1tYVwiOjEuMCxcImNvbHVtbnNcIjoxLFwia25vd25cIjo0
    fV19LFwicHJvdmVuYW5jZVwiOntcImVpZ2Vuc3BhblwiOlwiMC4xLjBcIixcImRhdGFcIjpcImxhYi5jc3ZcIixcImRhdGFfc2hhMjU2XCI6XCJm
    Y2M3YzJhMjdhYzc1ODBlNTYxZTExMGZhZDU2ZDgzYzVlZTVmOTNhNDRiYjQyZTAzMzVkYjIyMDUwNzNlN2NlXCIsXCJzZWVkXCI6bnVsbH19In0s
    ImJhc2lzIjp7ImR0eXBlIjoiRjY0Iiwic2hhcGUiOlsyLDJdLCJkYXRhX29mZnNldHMiOlswLDMyXX0sImN1dCI6eyJkdHlwZSI6IkY2NCIsInNo
    YXBlIjpbM10sImRhdGFfb2Zmc2V0cyI6WzMyLDU2XX0sInNpZ21hIjp7ImR0eXBlIjoiRjY0Iiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpb
    NTYsNzJdfX13Td5TZ/HhP5yXC+QHf+o/nJcL5Ad/6j93Td5TZ/Hhv5oNp93A9vo/v77bku2I1j/MO39mnqAGQGfElR3/PgVAzbU/0rIj7z8=
    """
)

# The golden file of format 5, `crates/io/tests/golden/pce-v5.espan`: 10 features, 6 directions kept.
ONLINE = base64.b64decode(
    """
    wAQAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJlaWdlbnNwYW4iOiJ7XCJmb3JtYXRcIjo1LFwiY2hlY2tzdW1cIjpcIjg4Y2UwZWQzNWNiYWE3NDJj
    ZjBhNjY5OTlhMGJjZTc4ODdmMDdkYmVjMmFlMWEyMDI4YTE5ZWVmZmYwMDA5MDlcIixcIm1ldGhvZFwiOlwicGNlXCIsXCJuXCI6MzAsXCJudW1i
    ZXJfdHlwZVwiOlwiZjY0XCIsXCJpbWFnZVwiOm51bGwsXCJwYXJhbXNcIjp7XCJsYW1iZGFcIjp7XCJydWxlXCI6XCJmaXhlZFwiLFwidmFsdWVc
    IjowLjV9LFwiZGltXCI6XCJhdXRvXCIsXCJyYW5rX3J1bGVcIjpcInRoZW9yZW1cIixcIm5vcm1hbGl6ZVwiOlwidW5pdFwiLFwiY2VudGVyXCI6
    dHJ1ZSxcIndlaWdodHNcIjpcImhhcmRcIixcInN0cmljdFwiOmZhbHNlfSxcImxhbWJkYV9ydWxlXCI6XCJmaXhlZFwiLFwia1wiOjMsXCJrX2lu
    dGVydmFsXCI6WzMsM10sXCJzb2x2ZXJcIjpcIm9ubGluZVwiLFwiY2VydGlmaWVkXCI6dHJ1ZSxcIndoeVwiOlwiayA9IDM6IDMgb2YgMTAgc2lu
    Z3VsYXIgdmFsdWVzIGFyZSBhYm92ZSDPhCA9IDEuNDE0ICgxL+KIms67IGZvciB0aGUgzrsgdGhhdCB3YXMgZ2l2ZW4pOyDPg18zID0gMS41MTQg
    YW5kIM+DXzQgPSAxLjA2OVwiLFwid2FybmluZ3NcIjpbXSxcIm9ubGluZVwiOntcInJhbmtcIjo2LFwiYmxvY2tcIjoxMCxcInVwZGF0ZXNcIjoz
    LFwicHJvdmVkXCI6dHJ1ZX0sXCJwcm92ZW5hbmNlXCI6e1wiZWlnZW5zcGFuXCI6XCIwLjEuMFwiLFwiZGF0YVwiOlwiZ29sZGVuXCIsXCJkYXRh
    X3NoYTI1NlwiOlwiYzNlMjZmZDNlZDkxODVkZGJmZTgxYzRjY2U5MjM5MmNkYmVhNmI4NTdmMjgyMjI5MWNhYmMzNDBjMGIxMTZjZFwiLFwic2Vl
    ZFwiOm51bGx9fSJ9LCJiYXNpcyI6eyJkdHlwZSI6IkY2NCIsInNoYXBlIjpbMTAsM10sImRhdGFfb2Zmc2V0cyI6WzAsMjQwXX0sImN1dCI6eyJk
    dHlwZSI6IkY2NCIsInNoYXBlIjpbM10sImRhdGFfb2Zmc2V0cyI6WzI0MCwyNjRdfSwibWVhbiI6eyJkdHlwZSI6IkY2NCIsInNoYXBlIjpbMTBd
    LCJkYXRhX29mZnNldHMiOlsyNjQsMzQ0XX0sInNpZ21hIjp7ImR0eXBlIjoiRjY0Iiwic2hhcGUiOls2XSwiZGF0YV9vZmZzZXRzIjpbMzQ0LDM5
    Ml19LCJzcGFyZSI6eyJkdHlwZSI6IkY2NCIsInNoYXBlIjpbMTAsM10sImRhdGFfb2Zmc2V0cyI6WzM5Miw2MzJdfSwidHJhaWwiOnsiZHR5cGUi
    OiJGNjQiLCJzaGFwZSI6WzRdLCJkYXRhX29mZnNldHMiOls2MzIsNjY0XX19ICAgDD7BLfmF278x8PpklNmwP0JXUKNJKto/5VOARAlMmr+XurKd
    JNyjv1WuADtBydE/KcsTYrsp0T+mlzTNgoZwP+YnLJY7S+E/NuD89mjCvT9gQF0zNYbuP0O/h0bVUK2/pXYaub/5xz9nltvMgvPHv2DgbhdToa0/
    OXD63cz44z8xUxBynly0v4SXdB2vFNe/i1k3xZAytb/a7xP89Bm/P9nGb4VzI9G/hgDI0iZaxD8P4lqQ1+HEPzClLEUf4Nc/J29Tp2Y/2T8KmLTT
    zX57v5DfnEH3ONE/xNj3D17a1T+N0fI3EMujv1VQr/r8t8o/zDt/Zp6g9j8AAAAAAADgP7ayNDNYPRBAoJ1jR56UnL9VnCkWHZKGv/SPJKP9tXq/
    r6G41aYYzz+27IoAaLibv8RHJK46caA/uGRHvFnhrj8HEPeoa02yPzw812ileoE/KFkg/hLRj7+EhxiDoHcHQOAMsOegkABA2hqRn186+D+JjJyw
    8BvxP47RalhT4Mk/i3jx109LyD980o5bgH+9P1JQu4DPANg/l3JHY6Eo1b9FgrtRSQ7Qvwdvs8MgXtk/57u1F3Urzr9fL/546Xi3P/+DF440or8/
    T3VFTMezwT8Qfh1TH2TCP4A9WMud57W/Y5ZzgJ+6xL9Uf3HcaLzEv2zVI1qzmOK/ALui9xPY4L8imznXMeWrP3rndl4Sl+E/1GSzB7qJv7+cSaDR
    01fnv++TPV+NlL8/aAKVz4QCkT9IWki//J3gvx7J/4Ao4LS/JMb1T4tK2j+oqYE8AyDBv0cuZb08/Kq/oY7ZXL2x3L9HWWf0iGfLP+5X7TRXd7+/
    UiZ+hyDa1j9cj8L1KFzvP6ruXBISvTFAR/k1Pe3Bsz/SEuAfnTyhPw==
    """
)


def taken_apart(model: bytes = VALID) -> tuple[dict, dict, dict]:
    """The settings, the safetensors header without them, and the values of every tensor."""
    length = struct.unpack_from("<Q", model)[0]
    header = json.loads(model[8 : 8 + length])
    settings = json.loads(header.pop("__metadata__")["eigenspan"])
    values = {}
    for name, tensor in header.items():
        start, end = tensor["data_offsets"]
        values[name] = list(struct.unpack_from(f"<{(end - start) // 8}d", model, 8 + length + start))
    return settings, header, values


def framed(header: bytes, values: bytes = b"") -> bytes:
    """Header and values behind the length of the header."""
    padded = header.ljust(-(-len(header) // 8) * 8)
    return struct.pack("<Q", len(padded)) + padded + values


def signed(content: bytes) -> bytes:
    """With the checksum that fits."""
    start = content.index(b'\\"checksum\\":\\"') + len(b'\\"checksum\\":\\"')
    blank = content[:start] + b"0" * 64 + content[start + 64 :]
    return blank[:start] + hashlib.sha256(blank).hexdigest().encode() + blank[start + 64 :]


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def forged(change=lambda settings, tensors, values: None, model: bytes = VALID) -> bytes:
    """A model file with the right checksum whose contents were changed."""
    settings, tensors, values = copy.deepcopy(taken_apart(model))
    change(settings, tensors, values)
    content = b"".join(struct.pack(f"<{len(numbers)}d", *numbers) for numbers in values.values())
    header = {"__metadata__": {"eigenspan": compact(settings)}} | tensors
    return signed(framed(compact(header).encode(), content))


def setting(key: str, value: object) -> bytes:
    return forged(lambda settings, _, __: settings.update({key: value}))


def number(name: str, at: int, value: float) -> bytes:
    return forged(lambda _, __, values: values[name].__setitem__(at, value))


def tensor(name: str, **about: object) -> bytes:
    return forged(lambda _, tensors, __: tensors[name].update(about))


def not_a_model():
    length = struct.unpack_from("<Q", VALID)[0]
    yield "empty", b""
    yield "cut-in-length", VALID[:5]
    yield "cut-in-header", VALID[:200]
    yield "cut-in-values", VALID[:-3]
    yield "byte-behind", VALID + b"\x00"
    yield "header-of-2-62-bytes", struct.pack("<Q", 1 << 62) + VALID[8:]
    yield "header-of-90-mb", struct.pack("<Q", 90_000_000) + VALID[8:]
    yield "header-no-json", framed(b"hello, world")
    yield "header-no-utf-8", framed(b'{"\xff\xff": 1}')
    yield "header-json-list", framed(b"[1, 2, 3]")
    yield "header-deep-json", framed(b'{"a":' + b"[" * 5000)
    yield "header-empty-object", framed(b"{}")
    yield "header-cut-by-length", struct.pack("<Q", length - 40) + VALID[8:]
    yield "table", b"width,height\n1,2\n3,4\n"
    yield "npy", b"\x93NUMPY\x01\x00" + bytes(64)
    yield "other-safetensors", framed(
        b'{"__metadata__":{"format":"pt"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', bytes(8)
    )
    yield "settings-no-json", framed(b'{"__metadata__":{"eigenspan":"hello"}}')
    yield "settings-no-format", framed(b'{"__metadata__":{"eigenspan":"{}"}}')
    yield "settings-no-checksum", framed(b'{"__metadata__":{"eigenspan":"{\\"format\\":2}"}}')
    yield "settings-format-negative", framed(b'{"__metadata__":{"eigenspan":"{\\"format\\":-1}"}}')


def damaged():
    yield "bit-in-basis", VALID[:-100] + bytes([VALID[-100] ^ 1]) + VALID[-99:]
    yield "bit-in-settings", patched(VALID, b'\\"n\\":4', b'\\"n\\":5')
    yield "bit-in-checksum", patched(VALID, b'checksum\\":\\"4', b'checksum\\":\\"5')
    yield "checksum-no-digits", patched(VALID, b'checksum\\":\\"4', b'checksum\\":\\"x')


def tensors():
    def without(name: str) -> bytes:
        def change(_, about: dict, values: dict) -> None:
            size = len(values.pop(name)) * 8
            at = about.pop(name)["data_offsets"][0]
            for other in about.values():
                other["data_offsets"] = [end - size if end > at else end for end in other["data_offsets"]]

        return forged(change)

    def additional(_, about: dict, values: dict) -> None:
        about["extra"] = {"dtype": "F64", "shape": [1], "data_offsets": [120, 128]}
        values["extra"] = [1.0]

    yield "tensor-missing-basis", without("basis")
    yield "tensor-missing-sigma", without("sigma")
    yield "tensor-missing-cut", without("cut")
    yield "tensor-missing-mean", without("mean")
    yield "tensor-additional", forged(additional)
    yield "tensor-twice", signed(patched(VALID, b'"sigma"', b'"basis"'))
    yield "tensors-overlap", tensor("cut", data_offsets=[0, 24])
    yield "tensor-offsets-fall", tensor("cut", data_offsets=[72, 48])
    yield "tensor-beyond-end", tensor("sigma", data_offsets=[96, 4096])
    yield "tensor-offsets-beyond-64-bits", tensor("sigma", data_offsets=[96, 2**64])
    yield "tensor-offsets-negative", tensor("sigma", data_offsets=[-8, 120])
    yield "tensor-shape-wrong-size", tensor("basis", shape=[3, 3])
    yield "tensor-shape-beyond-64-bits", tensor("basis", shape=[2**62, 16])
    yield "tensor-one-axis", tensor("basis", shape=[6])
    yield "tensor-turned", tensor("basis", shape=[2, 3])
    yield "tensor-two-axes", tensor("mean", shape=[1, 3])
    yield "tensor-integers", tensor("sigma", dtype="I64")
    yield "tensor-type-unknown", tensor("sigma", dtype="F65")
    yield "tensor-no-columns", forged(no_columns)


def no_columns(settings: dict, about: dict, values: dict) -> None:
    settings["k"] = 0
    settings["k_interval"] = [0, 0]
    values["basis"] = []
    about["basis"] = {"dtype": "F64", "shape": [3, 0], "data_offsets": [0, 0]}
    for name, start in (("cut", 0), ("mean", 24), ("sigma", 48)):
        about[name]["data_offsets"] = [start, start + 24]


def contradictions():
    def twice(key: bytes) -> bytes:
        text = compact(taken_apart()[0])
        header = {"__metadata__": {"eigenspan": text[:-1] + f',"{key.decode()}":2}}'}} | taken_apart()[1]
        return signed(framed(compact(header).encode(), VALID[-120:]))

    def longer_basis(_, __, values: dict) -> None:
        values["basis"] = [2 * value for value in values["basis"]]

    def slanted(_, __, values: dict) -> None:
        values["basis"][1::2] = values["basis"][0::2]

    yield "format-3", setting("format", 3)
    yield "format-4-billion", setting("format", 2**32 - 1)
    yield "format-beyond-32-bits", setting("format", 2**32)
    yield "format-0", setting("format", 0)
    yield "format-1-with-cut-of-2", setting("format", 1)
    yield "method-unknown", setting("method", "tsne")
    yield "field-unknown", setting("surprise", 1)
    yield "field-twice", twice(b"k")
    yield "field-missing", forged(lambda settings, _, __: settings.pop("k"))
    yield "field-wrong-type", setting("k", "two")
    yield "rule-unknown", forged(lambda settings, _, __: settings["params"].update({"normalize": "l3"}))
    yield "n-0", setting("n", 0)
    yield "n-negative", setting("n", -4)
    yield "n-below-sigma", setting("n", 2)
    yield "k-beyond-columns", setting("k", 3)
    yield "k-outside-interval", setting("k_interval", [3, 3])
    yield "interval-falls", setting("k_interval", [2, 1])
    yield "image-does-not-fit", setting("image", {"height": 2, "width": 2})
    yield "image-beyond-64-bits", setting("image", {"height": 2**63, "width": 2})
    yield "center-without-mean", forged(lambda settings, _, __: settings["params"].update({"center": False}))
    yield "z-score-without-deviation", forged(lambda settings, _, __: settings["params"].update({"normalize": "zscore"}))
    yield "sigma-negative", number("sigma", 2, -0.1)
    yield "sigma-nan", number("sigma", 1, math.nan)
    yield "sigma-infinite", number("sigma", 0, math.inf)
    yield "sigma-rising", number("sigma", 2, 1.0)
    yield "sigma-zero-kept", forged(lambda _, __, values: values["sigma"].__setitem__(slice(1, 3), [0.0, 0.0]))
    yield "norm-too-small", number("cut", 2, 0.5)
    yield "tau-0", number("cut", 0, 0.0)
    yield "tau-nan", number("cut", 0, math.nan)
    yield "lambda-negative", number("cut", 1, -1.0)
    yield "lambda-nan", number("cut", 1, math.nan)
    yield "mean-nan", number("mean", 0, math.nan)
    yield "basis-nan", number("basis", 3, math.nan)
    yield "basis-infinite", number("basis", 3, -math.inf)
    yield "basis-huge", number("basis", 3, 1e300)
    yield "basis-slightly-off", number("basis", 0, taken_apart()[2]["basis"][0] + 1e-6)
    yield "basis-too-long", forged(longer_basis)
    yield "basis-same-column-twice", forged(slanted)


def other_methods():
    def fact(path: str, value: object) -> bytes:
        def change(settings: dict, _, __) -> None:
            *folders, last = path.split(".")
            for folder in folders:
                settings = settings[folder]
            settings[last] = value

        return forged(change, NPE)

    def number(name: str, at: int, value: float) -> bytes:
        return forged(lambda _, __, values: values[name].__setitem__(at, value), NPE)

    def tensor(name: str, **about: object) -> bytes:
        return forged(lambda _, tensors, __: tensors[name].update(about), NPE)

    def without_mean(_, about: dict, values: dict) -> None:
        size = 8 * len(values.pop("mean"))
        about.pop("mean")
        for other in about.values():
            other["data_offsets"] = [end - size for end in other["data_offsets"]]

    yield "npe-of-no-method", fact("method", "magic")
    yield "npe-of-another-method", fact("method", "nmf")
    yield "npe-in-format-2", fact("format", 2)
    yield "npe-fact-unknown", fact("facts.surprise", 1)
    yield "npe-setting-unknown", fact("facts.about.params.surprise", 1)
    yield "npe-setting-wrong-type", fact("facts.about.params.neighbours", "two")
    yield "npe-no-samples", fact("facts.about.n", 0)
    yield "npe-image-does-not-fit", fact("facts.about.image", {"height": 2, "width": 2})
    yield "npe-not-centred", fact("facts.centred", False)
    yield "npe-without-mean", forged(without_mean, NPE)
    yield "npe-z-score-without-deviation", fact("facts.normalize", "zscore")
    yield "npe-theta-nan", number("theta", 3, math.nan)
    yield "npe-values-infinite", number("values", 1, math.inf)
    yield "npe-theta-turned", tensor("theta", shape=[2, 3])
    yield "npe-theta-one-axis", tensor("theta", shape=[6])
    yield "npe-theta-integers", tensor("theta", dtype="I64")


def soft_weights():
    def changed(change) -> bytes:
        return forged(lambda settings, _, __: change(settings), SOFT)

    def params(**about: object) -> bytes:
        return changed(lambda settings: settings["params"].update(about))

    def chosen(**about: object) -> bytes:
        return changed(lambda settings: settings["chosen"].update(about))

    def trial(at: int, **about: object) -> bytes:
        return changed(lambda settings: settings["chosen"]["trials"][at].update(about))

    yield "soft-in-format-2", changed(lambda settings: settings.update({"format": 2}))
    yield "soft-in-format-5", changed(lambda settings: settings.update({"format": 5}))
    yield "soft-in-format-7", changed(lambda settings: settings.update({"format": 7}))
    yield "soft-weights-unknown", params(weights="medium")
    yield "soft-gamma-above-1", params(weights={"soft": {"gamma": 1.5}})
    yield "soft-gamma-no-number", params(weights={"soft": {"gamma": None}})
    yield "soft-hard-in-format-4", params(weights="hard", unit_features=False)
    yield "soft-choice-missing", changed(lambda settings: settings.pop("chosen"))
    yield "soft-choice-of-given-weights", params(weights={"soft": {"gamma": 1.0}})
    yield "soft-choice-not-the-best", chosen(gamma=0.5)
    yield "soft-choice-without-trials", chosen(trials=[])
    yield "soft-choice-field-unknown", chosen(surprise=1)
    yield "soft-factor-0", trial(0, factor=0.0)
    yield "soft-trial-gamma-negative", trial(0, gamma=-0.25)
    yield "soft-trial-without-columns", trial(0, columns=0)
    yield "soft-trial-knows-too-many", trial(0, known=9)
    yield "soft-trial-cut-short", changed(lambda settings: settings["chosen"]["trials"][0].pop("known"))
    yield "soft-k-beyond-columns", changed(lambda settings: settings.update({"k": 3, "k_interval": [3, 3]}))


def one_by_one():
    def changed(change) -> bytes:
        return forged(lambda settings, _, __: change(settings), ONLINE)

    def number(name: str, at: int, value: float) -> bytes:
        return forged(lambda _, __, values: values[name].__setitem__(at, value), ONLINE)

    def tensor(name: str, **about: object) -> bytes:
        return forged(lambda _, tensors, __: tensors[name].update(about), ONLINE)

    yield "online-in-format-2", changed(lambda settings: settings.update({"format": 2}))
    yield "online-in-format-4", changed(lambda settings: settings.update({"format": 4}))
    yield "online-missing", changed(lambda settings: settings.pop("online"))
    yield "online-field-unknown", changed(lambda settings: settings["online"].update({"surprise": 1}))
    yield "online-rank-0", changed(lambda settings: settings["online"].update({"rank": 0}))
    yield "online-block-0", changed(lambda settings: settings["online"].update({"block": 0}))
    yield "online-rank-negative", changed(lambda settings: settings["online"].update({"rank": -1}))
    yield "online-forget-0", number("trail", 0, 0.0)
    yield "online-forget-above-1", number("trail", 0, 1.5)
    yield "online-weight-nan", number("trail", 1, math.nan)
    yield "online-lost-below-0", number("trail", 2, -1.0)
    yield "online-lost-infinite", number("trail", 3, math.inf)
    yield "online-trail-a-matrix", tensor("trail", shape=[2, 2])
    yield "online-trail-integers", tensor("trail", dtype="I64")
    yield "online-spare-nan", number("spare", 0, math.nan)


def files():
    models = (VALID, NPE, SOFT, ONLINE)
    assert all(forged(model=model) == model for model in models), "what is not changed stays what it was"
    for part in (not_a_model(), damaged(), tensors(), contradictions(), other_methods(), soft_weights(), one_by_one()):
        yield from ((f"{name}.espan", content) for name, content in part)
