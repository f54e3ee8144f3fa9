"""Folders of images: one malformed image each, or images that do not go together."""

import base64
import struct
import zlib

# 16 × 16 grey, baseline, written by Pillow.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYU"
    "GBIUFRT/wAALCAAQABABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABwL/xAAqEAABAQUGBQUAAAAAAAAAAAABAgQHESExAAMFBhJBCBMiYZEWMlGB"
    "8P/aAAgBAQAAPwBvx5+rIXNJvAvSlVySkkezpEhGkY/crBvDC/Nk9ZNEbxOoXhgNq0l3HmlpzA63Gi5UKUFqgzaQfjpqIbzp4NhDhkdvi6s6NaVB"
    "akczUiI37R/St//Z"
)


def chunk(kind, content, crc=None):
    crc = zlib.crc32(kind + content) if crc is None else crc
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)


def png(width, height, data, depth=8, color=0, interlace=0, crc=None):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    parts = [chunk(b"IHDR", header, crc), chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def rows(width, height, channels=1):
    return zlib.compress(b"".join(b"\0" + bytes(range(width * channels)) for _ in range(height)), 9)


def bmp(width, height, pixels, bits=24, packing=0, offset=None, palette=b""):
    offset = 54 + len(palette) if offset is None else offset
    size = 54 + len(palette) + len(pixels)
    file = struct.pack("<2sIII", b"BM", size, 0, offset)
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, packing, len(pixels), 0, 0, len(palette) // 4, 0)
    return file + header + palette + pixels


def jpeg_claiming(height, width):
    at = JPEG.index(b"\xff\xc0") + 5
    return JPEG[:at] + struct.pack(">HH", height, width) + JPEG[at + 4 :]


def jpeg_scan():
    """Where the packed pixels begin."""
    at = JPEG.index(b"\xff\xda")
    return at + 2 + struct.unpack(">H", JPEG[at + 2 : at + 4])[0]


def files():
    grey = b"P5 2 2 255\n\x00\x40\x80\xff"

    good = rows(4, 4)
    yield "png-claims-60000-squared/a.png", png(60000, 60000, good)
    yield "png-cut/a.png", png(16, 16, rows(16, 16))[:50]
    yield "png-only-signature/a.png", b"\x89PNG\r\n\x1a\n"
    yield "png-header-checksum/a.png", png(4, 4, good, crc=0)
    yield "png-data-not-deflated/a.png", png(4, 4, b"these are no deflated rows")
    yield "png-no-width/a.png", png(0, 4, good)
    yield "png-depth-7/a.png", png(4, 4, good, depth=7)
    yield "png-palette-missing/a.png", png(4, 4, good, color=3)
    # A million zeros in a thousand bytes: less than the size asks for, or far less.
    zeros = zlib.compress(bytes(1_000_000), 9)
    yield "png-deflate-bomb/a.png", png(1010, 1010, zeros)
    yield "png-deflate-bomb-claims-more/a.png", png(5000, 5000, zeros, depth=16, color=6)
    yield "png-too-few-rows/a.png", png(16, 16, rows(16, 3))
    yield "png-interlaced-cut/a.png", png(16, 16, zlib.compress(bytes(60)), interlace=1)
    # A profile that unpacks to a million bytes, in front of pixels that are cut.
    profile = chunk(b"iCCP", b"p\0\0" + zeros)
    whole = png(4, 4, good)
    yield "png-profile-bomb/a.png", whole[:33] + profile + whole[33:50]

    yield "jpeg-cut-in-header/a.jpg", JPEG[: JPEG.index(b"\xff\xc0") + 6]
    yield "jpeg-cut-after-header/a.jpg", JPEG[: jpeg_scan()]
    yield "jpeg-cut-in-pixels/a.jpg", JPEG[: jpeg_scan() + 20]
    yield "jpeg-without-end/a.jpg", JPEG[:-2]
    # The end marker of a thumbnail in a comment is not the end of the image.
    thumbnail = b"\xff\xfe" + struct.pack(">H", 6) + b"\xff\xd8\xff\xd9"
    yield "jpeg-end-in-a-comment/a.jpg", JPEG[:2] + thumbnail + JPEG[2:-2]
    yield "jpeg-claims-65500-squared/a.jpg", jpeg_claiming(65500, 65500)
    yield "jpeg-no-width/a.jpg", jpeg_claiming(16, 0)

    yield "pgm-negative-size/a.pgm", b"P5 -2 2 255\n" + bytes(4)
    yield "pgm-huge-size/a.pgm", b"P5 60000 60000 255\n" + bytes(100)
    yield "pgm-size-beyond-32-bits/a.pgm", b"P5 99999999999 1 255\n" + bytes(100)
    yield "pgm-no-size/a.pgm", b"P5\n"
    yield "pgm-no-width/a.pgm", b"P5 0 2 255\n"
    yield "pgm-cut/a.pgm", b"P5 8 8 255\n" + bytes(60)
    yield "pgm-most-0/a.pgm", b"P5 2 2 0\n" + bytes(4)
    yield "pgm-most-70000/a.pgm", b"P5 2 2 70000\n" + bytes(16)
    yield "pgm-text-among-numbers/a.pgm", b"P2 2 2 255\n0 1 two 3\n"
    yield "pgm-value-300-of-255/a.pgm", b"P2 2 2 255\n0 1 300 3\n"
    yield "pgm-text-cut/a.pgm", b"P2 2 2 255\n0 1 2\n"
    yield "pbm-cut/a.pbm", b"P4 64 64\n" + bytes(511)

    yield "bmp-offset-beyond-end/a.bmp", bmp(2, 2, bytes(16), offset=1 << 30)
    yield "bmp-huge-height/a.bmp", bmp(2, 60000, bytes(16))
    yield "bmp-negative-width/a.bmp", bmp(-2, 2, bytes(16))
    yield "bmp-lowest-height/a.bmp", bmp(2, -(1 << 31), bytes(16))
    yield "bmp-no-height/a.bmp", bmp(2, 0, bytes(16))
    palette = bytes(range(256)) * 4
    yield "bmp-run-beyond-row/a.bmp", bmp(4, 2, b"\x00\x09abcdefghi\0\0\1", bits=8, packing=1, palette=palette)
    yield "bmp-jump-beyond-image/a.bmp", bmp(4, 2, b"\x00\x02\xff\xff\0\1", bits=8, packing=1, palette=palette)
    yield "bmp-runs-cut/a.bmp", bmp(4, 2, b"\x04\x01\x00\x00\x04", bits=8, packing=1, palette=palette)
    yield "bmp-nothing-but-its-end/a.bmp", bmp(60000, 60000, b"\0\1", bits=8, packing=1, palette=palette)
    yield "bmp-cut/a.bmp", bmp(2, 2, bytes(16))[:60]

    yield "mixed-sizes/a.pgm", grey
    yield "mixed-sizes/b.pgm", b"P5 3 2 255\n" + bytes(6)
    yield "mixed-color/a.pgm", grey
    yield "mixed-color/b.ppm", b"P6 2 2 255\n" + bytes(12)
    yield "mixed-depth/a.pgm", grey
    yield "mixed-depth/b.pgm", b"P5 2 2 65535\n" + bytes(8)
    yield "mixed-classes/oak/a.pgm", grey
    yield "mixed-classes/stray.pgm", grey
    yield "hidden-images-only/.a.pgm", grey
    yield "text-files-only/a.txt", b"no image\n"
    yield "text-files-only/b.md", b"none here\n"
    yield "text-named-png/a.pgm", grey
    yield "text-named-png/b.PNG", b"<!DOCTYPE html>\n"
    yield "empty-jpg/a.pgm", grey
    yield "empty-jpg/b.jpg", b""
