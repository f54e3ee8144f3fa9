"""CSV and TSV: text in rows and columns."""

TABLES = {
    "empty": "",
    "byte-order-mark-only": "\ufeff",
    "blank-lines": "\n\n  \n",
    "header-only": "a,b\n",
    "short-row": "1,2\n3\n",
    "long-row-after-blank-lines": "1,2\n\n\n3,4,5\n",
    "short-row-windows-line-ends": "1,2\r\n3,4\r\n5\r\n",
    "word": "a,b\n1,2\n3,x\n",
    "unit": "1,2\n3,4 cm\n",
    "decimal-comma": "1;2\n3;4,5\n",
    "empty-cell": "1,,3\n",
    "empty-last-cell": "a,b\n1,\n",
    "nan": "a,b\n1,nan\n",
    "infinity": "1,2\n-inf,4\n",
    "beyond-floats": "1,2\n3,1e999\n",
    "line-end-in-quotes": '1,2\n"3\n4",5\n',
    "open-quote": '1,2\n"3,4\n5,6\n',
    "empty-class": "a,label\n1,\n",
    "only-classes": "label\nx\ny\n",
    "comment": "# made by hand\n1,2\n",
    "long-word": "1,2\n3," + "x" * 5000 + "\n",
    "long-names": "a" * 3000 + ",b\n1,x\n",
    "thousands-separator": "a,b\n1,1 234.5\n",
    "hexadecimal": "1,2\n3,0x1f\n",
    "control-characters": "1,2\n3,\x1b[31mred\n",
    "label-unknown": "a,b,b\n1,2,3\n",
    "label-number-too-large": "a,b,b\n1,2,3\n",
    "label-number-zero": "a,b,b\n1,2,3\n",
    "label-name-twice": "a,b,b\n1,2,3\n",
    "label-without-header": "1,2\n",
}


def files():
    yield from ((f"{name}.csv", text.encode()) for name, text in TABLES.items())
    yield "short-row.tsv", b"a\tb\n1\t2\n3\n"
    yield "two-separators.tsv", b"1\t2\n3,4\n"
    yield "word.tsv", b"a\tb\n1\ttwo\n"
