"""Ways to spoil a file: bytes that flip, cuts, repetitions, and values that no honest file has in their place."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable

Mutator = Callable[[random.Random, bytes], bytes]

#: What may stand where a number, a word or a list should be.
ODD = (
    *("NaN", "nan", "inf", "-Infinity", "1e999", "-1", "-0.0", "5e-324", "1e308", "9" * 40, "9" * 5_000),
    *("0x" + "f" * 6_000, "18446744073709551616", "2.5", "true", "null", '""', '"' + "x" * 70_000 + '"'),
    *("[]", "{}", "[[[]]]", "[" * 2_000, "[" * 300 + "]" * 300, '{"a":' * 150 + "1" + "}" * 150),
    *('"\\ud800"', '"\\u0000"', "1979-05-27T07:32:00Z", "0001-01-01", "'''", '"""', "\x00", "é", "\u2028"),
    *("package.module:Name", '"trap_module:Trap-v0"', '"../../../etc/passwd"', "0.1.2", "1_000", "+1", "#"),
)
_TOKEN = re.compile(rb'-?\d+\.?\d*(?:[eE][-+]?\d+)?|"[^"\n]*"|true|false|[\w-]+')


def mutated(rng: random.Random, data: bytes, mutators: tuple[Mutator, ...]) -> bytes:
    """Return a spoilt copy of a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(mutators)(rng, data)
    return data


def flip(rng: random.Random, data: bytes) -> bytes:
    spoilt = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 3, 20))):
        spoilt[rng.randrange(len(spoilt))] = rng.choice((rng.randrange(256), 0, 255, *b'[]{},:"=\n.-e'))
    return bytes(spoilt)


def cut(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] if rng.random() < 0.7 else data[place:]


def repeat(rng: random.Random, data: bytes) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] * rng.choice((1, 1, 2, 30)) + data[last:]


def remove(rng: random.Random, data: bytes) -> bytes:
    first = rng.randrange(len(data) + 1)
    return data[:first] + data[first + rng.choice((1, 1, 10, 200)) :]


def remove_line(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def replace_token(rng: random.Random, data: bytes) -> bytes:
    """Put something odd in the place of a number, a word or a name."""
    tokens = list(_TOKEN.finditer(data))
    if not tokens:
        return data
    token = rng.choice(tokens)
    odd = rng.choice(ODD).encode() if rng.random() < 0.8 else rng.choice(tokens)[0]
    return data[: token.start()] + odd + data[token.end() :]


def swap_tokens(rng: random.Random, data: bytes) -> bytes:
    tokens = list(_TOKEN.finditer(data))
    if len(tokens) < 2:
        return data
    a, b = sorted(rng.sample(tokens, 2), key=re.Match.start)
    return data[: a.start()] + b[0] + data[a.end() : b.start()] + a[0] + data[b.end() :]


BYTES: tuple[Mutator, ...] = (flip, flip, cut, repeat, remove)
TEXT: tuple[Mutator, ...] = (flip, cut, repeat, remove, remove_line, swap_tokens, *[replace_token] * 4)


def spoil_member(rng: random.Random, data: bytes) -> bytes:
    """Spoil one file in a zip and pack all again, so that sizes and checksums agree."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # an earlier mutation spoilt it
        return data
    if not members:
        return data
    name = rng.choice(sorted(members))
    members[name] = _spoilt(rng, members[name])
    if rng.random() < 0.1:
        members[rng.choice(("../../evil", "other.npy", "settings.toml", "x" * 300))] = members.pop(name)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for key, content in members.items():
            archive.writestr(key, content)
    return buffer.getvalue()


def _spoilt(rng: random.Random, content: bytes) -> bytes:
    if content.startswith(b"PK"):
        return spoil_member(rng, content)
    if content.startswith(b"\x93NUMPY"):
        return spoil_array(rng, content)
    return mutated(rng, content, TEXT)


def spoil_array(rng: random.Random, content: bytes) -> bytes:
    """Spoil the header of an array, whose length is kept, or its numbers."""
    size = 10 + int.from_bytes(content[8:10], "little")
    if rng.random() < 0.5:
        return content[:size] + mutated(rng, content[size:], (*BYTES, *TEXT))
    header = mutated(rng, content[10:size].rstrip(), TEXT)[: 2**16 - 100]
    header = header.ljust(max(len(header) + 1, size - 10) - 1) + b"\n"
    return content[:8] + len(header).to_bytes(2, "little") + header + content[size:]


ARRAY: tuple[Mutator, ...] = (spoil_array, spoil_array, *BYTES)
ZIP: tuple[Mutator, ...] = (*[spoil_member] * 5, *BYTES)
