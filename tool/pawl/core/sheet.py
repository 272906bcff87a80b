# SPDX-License-Identifier: MIT
"""Puts several pictures one below the other into one file, keeping what they say of their data."""

import io
import re


def png(pictures: list[bytes]) -> bytes:
    if len(pictures) == 1:
        return pictures[0]
    from PIL import Image, PngImagePlugin

    images = [Image.open(io.BytesIO(p)) for p in pictures]
    sheet = Image.new("RGB", (max(i.width for i in images), sum(i.height for i in images)), "white")
    top = 0
    for image in images:
        sheet.paste(image.convert("RGB"), (0, top))
        top += image.height
    note = PngImagePlugin.PngInfo()
    note.add_text("Description", images[0].text["Description"])
    out = io.BytesIO()
    sheet.save(out, format="PNG", pnginfo=note, optimize=True)
    return out.getvalue()


_SIZE = re.compile(r'<svg [^>]*?height="([\d.]+)pt"[^>]*?width="([\d.]+)pt"', re.DOTALL)
_SIZE_SWAPPED = re.compile(r'<svg [^>]*?width="([\d.]+)pt"[^>]*?height="([\d.]+)pt"', re.DOTALL)


def _size(text: str) -> tuple[float, float]:
    if found := _SIZE_SWAPPED.search(text):
        return float(found[1]), float(found[2])
    found = _SIZE.search(text)
    return float(found[2]), float(found[1])


def svg(pictures: list[bytes]) -> bytes:
    if len(pictures) == 1:
        return pictures[0]
    parts, top, width = [], 0.0, 0.0
    for picture in pictures:
        text = picture.decode()
        wide, high = _size(text)
        inner = text[text.index("<svg ") :]
        parts.append(inner.replace("<svg ", f'<svg x="0" y="{top:g}" ', 1))
        top, width = top + high, max(width, wide)
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{top:g}pt" '
        f'viewBox="0 0 {width:g} {top:g}">\n'
    )
    return (head + "\n".join(parts) + "</svg>\n").encode()
