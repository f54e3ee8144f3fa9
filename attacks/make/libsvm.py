"""LIBSVM: a class, then `index:value` for every feature that is not zero."""

TEXTS = {
    "index-negative": "1 1:2 2:3\n" * 20 + "-1 -1:2\n",
    "index-no-number": "1 1:2\n" * 20 + "1 a:2\n",
    "index-huge": "1 1:2 999999999999:3\n",
    "index-beyond-64-bits": "1 1:2\n" * 20 + "1 99999999999999999999999:3\n",
    "index-empty": "1 1:2\n" * 20 + "1 :3\n",
    "index-zero-late": "1 1:2 0:3\n",
    "order-falls": "1 1:2 5:3\n-1 7:1 2:4\n",
    "feature-twice": "1 1:2 5:3 5:4\n",
    "no-colon": "1 1:2\n" * 20 + "1 5\n",
    "two-colons": "1 1:2:3\n",
    "value-empty": "1 1:2 5:\n",
    "value-word": "1 1:2\n-1 3:high\n",
    "value-nan": "1 1:2\n-1 3:nan\n",
    "value-infinity": "1 1:2\n-1 3:-inf\n",
    "value-beyond-floats": "1 1:2\n-1 3:1e999\n",
    "value-decimal-comma": "1 1:2\n-1 3:0,5\n",
    "value-long": "1 1:2\n-1 3:" + "9x" * 2000 + "\n",
    "value-control-characters": "1 1:2\n-1 3:\x1b[2J\n",
    "comment-in-a-line": "1 1:2 # 2:3\n-1 1:2 2:x # 3:4\n",
    "no-class": "1:2 3:4\n5:6 7:8\n",
    "space-after-colon": "1 1: 2 3: 4\n",
    "table-row-below": "1 1:2\n" * 20 + "1,2,3\n1 2 3\n",
    "wide-and-asked-for-images": "1 134217728:1\n",
    "asked-for-labels": "1 1:2\n",
}


def files():
    yield from ((f"{name}.libsvm", text.encode()) for name, text in TEXTS.items())
