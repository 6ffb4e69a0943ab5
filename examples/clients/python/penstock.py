"""A client of a Penstock node, with Python's standard library alone: blocks, and slots of shared memory.

It speaks RSocket 1.0 over TCP or a Unix socket by hand, with control messages in JSON. PROTOCOL.md has the rules, and
small-client.md the samples. One request runs at a time, except through `begin` and `receive`."""

from __future__ import annotations

import base64
import collections
import contextlib
import functools
import hashlib
import json
import re
import socket
import ssl
import struct
import threading
from typing import Any, Iterable, Iterator, Sequence

SETUP, KEEPALIVE, REQUEST_RESPONSE, REQUEST_STREAM, REQUEST_CHANNEL = 0x01, 0x03, 0x04, 0x06, 0x07
REQUEST_N, CANCEL, PAYLOAD, ERROR = 0x08, 0x09, 0x0A, 0x0B
METADATA, COMPLETE, NEXT, RESPOND = 0x100, 0x40, 0x20, 0x80
LONGEST_FRAME, WHOLE, KEEPALIVE_SECONDS, LIFETIME_SECONDS = 0xFFFFFF, 0xFFFFFFFF, 20, 90
HEADER = struct.Struct("<4sHHII16sIIHHIIIIIII")  # a slice up to its positions, 72 bytes
CREDIT = 16  # slices that a get asks for ahead
BYTES = {"BF16": 2, "FP16": 2, "FP32": 4, "FP8_E4M3": 1, "FP8_E5M2": 1, "INT8": 1}
_TABLE, _int_of, _int = list(range(256)), int.from_bytes, struct.Struct("<i").pack
for _ in range(8):
    _TABLE = [each >> 1 ^ 0x82F63B78 if each & 1 else each >> 1 for each in _TABLE]
_COLUMNS = [bytes(entry >> 8 * k & 0xFF for entry in _TABLE) for k in range(4)]  # byte k of each entry
_LANE, _LEAST = 64, 4096  # bytes of a lane; data that is worth lanes


def _advanced(crc: int, data: bytes) -> int:
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def _mapped(images: Sequence[int], register: int) -> int:
    return functools.reduce(int.__xor__, (one for bit, one in enumerate(images) if register >> bit & 1), 0)


@functools.lru_cache(maxsize=None)
def _zeros(level: int) -> list[int]:
    """What becomes of each bit of a register behind _LANE * 2 ** level bytes of zeros."""
    return [_mapped(_zeros(level - 1), one) if level else _advanced(1 << bit, bytes(_LANE))
            for bit, one in enumerate(_zeros(level - 1) if level else range(32))]


@functools.lru_cache(maxsize=None)
def _tables(level: int) -> list[list[bytes]]:
    whole = [[_mapped(_zeros(level), value << 8 * k) for value in range(256)] for k in range(4)]
    return [[bytes(one >> 8 * j & 0xFF for one in whole[k]) for k in range(4)] for j in range(4)]


def _xor(size: int, *parts: bytes) -> bytes:
    return functools.reduce(int.__xor__, (_int_of(part, "little") for part in parts)).to_bytes(size, "little")


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), some 50 MB/s for 64 KiB and more: `bytes.translate` and long integers take many lanes of 64
    bytes through the table at once, then combine neighbours. A faster function may replace it."""
    data, crc = bytes(data), 0xFFFFFFFF
    while len(data) >= _LEAST:
        level = (len(data) // _LANE).bit_length() - 1
        lanes, size = 1 << level, _LANE << level
        state = [bytes(lanes)] * 4  # byte k of the register of each lane
        for i in range(_LANE):
            index = _xor(lanes, state[0], data[i:size:_LANE])
            shifted = [index.translate(column) for column in _COLUMNS]
            state = [_xor(lanes, state[k + 1], shifted[k]) for k in range(3)] + [shifted[3]]
        for step in range(level):
            lanes >>= 1
            state = [_xor(lanes, state[j][1::2], *(state[k][0::2].translate(_tables(step)[j][k]) for k in range(4)))
                     for j in range(4)]
        crc = _mapped(_zeros(level), crc) ^ _int_of(b"".join(state), "little")
        data = data[size:]
    return _advanced(crc, data) ^ 0xFFFFFFFF


class PenstockError(Exception):
    """A failure that the node reports: its code, its sentence, and its values by name (PROTOCOL.md, section 6)."""

    def __init__(self, body: bytes) -> None:
        code, (sentence, _, values) = _int_of(body[:4], "big"), body[4:].decode().partition("\x1e")
        super().__init__(f"0x{code:04X}: {sentence}")
        self.code, self.sentence, self.transient = code, sentence, bool(code & 0x2000)
        self.values = json.loads(values) if values.startswith("{") else {}


class CorruptError(Exception):
    """A slice that breaks its rules, or bytes that differ from their checksum: nothing of it was used."""


class Space:
    """What equal hashes mean: a model and the layout of its blocks. Planes are (kind, type, heads, width).

    A KV group without full attention has `window_tokens`, or `state_tokens` with blocks of one token, and may have the
    numbers of its layers in the model. `fingerprint` names weights and engine."""

    def __init__(self, model: str, layers: int, tokens: int, planes: Iterable[Sequence[Any]], order: str = "NHD",
                 group: int = 0, salt: str = "", space_id: bytes | None = None, window_tokens: int = 0,
                 state_tokens: int = 0, group_layers: Iterable[int] = (), fingerprint: str = "") -> None:
        self.model, self.layers, self.tokens, self.order, self.group = model, layers, tokens, order, group
        self.planes, self.group_layers = [tuple(plane) for plane in planes], list(group_layers)
        self.window_tokens, self.state_tokens = window_tokens, state_tokens
        self.fingerprint, self.granules = fingerprint, layers * len(self.planes)
        self.id = self._id(salt) if space_id is None else _sixteen("space_id", space_id)
        self.rows = [tokens if order == "NHD" else heads for _, _, heads, _ in self.planes]
        self.sizes = [tokens * heads * width * BYTES[kind] for _, kind, heads, width in self.planes]
        self.block_bytes = layers * sum(self.sizes)

    def _id(self, salt: str) -> bytes:
        planes = [_text(kind) + _text(type_) + _int(heads) + _int(width) for kind, type_, heads, width in self.planes]
        words = [_text(self.model), _int(self.layers), _int(self.tokens), _text(self.order), _int(len(planes)), *planes,
                 _int(self.group), _text(salt)]
        if self._kind():
            words += [_text("group"), _int(self.window_tokens), _int(self.state_tokens), _int(len(self.group_layers)),
                      *map(_int, self.group_layers)]
        if self.fingerprint:
            words += [_text("fingerprint"), _text(self.fingerprint)]
        return hashlib.sha256(b"penstock.space.v1" + b"".join(words)).digest()[:16]

    def _kind(self) -> dict[str, Any]:
        kind = {"windowTokens": self.window_tokens, "stateTokens": self.state_tokens, "layers": self.group_layers}
        return {"kind": kind} if any(kind.values()) else {}

    def message(self) -> dict[str, Any]:
        """The space as `hello` states it."""
        return {"id": _b64(self.id), "model": self.model, "layers": self.layers, "tokens": self.tokens,
                "order": self.order, "group": self.group, **self._kind(),
                "planes": [dict(zip(("kind", "type", "heads", "width"), plane)) for plane in self.planes],
                **({"fingerprint": self.fingerprint} if self.fingerprint else {})}

    @staticmethod
    def told(message: dict[str, Any]) -> Space:
        """The space that a node tells."""
        kind = message.get("kind") or {}
        return Space(message["model"], message["layers"], message["tokens"], [
            (plane["kind"], plane["type"], plane["heads"], plane["width"]) for plane in message["planes"]],
            message["order"], message["group"], "", base64.b64decode(message["id"]), kind.get("windowTokens", 0),
            kind.get("stateTokens", 0), kind.get("layers", ()), message.get("fingerprint") or "")

    def hashes(self, tokens: Sequence[int], extra: Sequence[str] = (), parent: bytes = bytes(16)) -> list[bytes]:
        """Hashes of the blocks that a prompt fills; of the states, in the space of a group of states."""
        found, step, parent = [], self.state_tokens or self.tokens, _sixteen("parent", parent)
        for first in range(0, len(tokens) - step + 1, step):
            block = tokens[first:first + step]
            parent = hashlib.sha256(b"penstock.prefix.v1" + parent + _int(len(block)) + b"".join(map(_int, block))
                                    + _int(len(extra)) + b"".join(map(_text, extra))).digest()[:16]
            found.append(parent)
        return found

    def granule(self, number: int) -> tuple[int, int, int]:
        """Offset and length of a granule in its block, and the length of one of its rows."""
        layer, plane = divmod(number, len(self.planes))
        size = self.sizes[plane]
        return layer * sum(self.sizes) + sum(self.sizes[:plane]), size, size // self.rows[plane]

    def cuts(self, most: int) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Pieces of a block that fit a slice of `most` bytes: granule, granules, first row, rows, range of bytes."""
        granule = 0
        while granule < self.granules:
            start, size, row_bytes = self.granule(granule)
            last, end = granule + 1, start + size
            if size > most:
                rows, step = size // row_bytes, most // row_bytes
                for row in range(0, rows, step):
                    end = min(rows, row + step)
                    yield granule, 1, row, end - row, start + row * row_bytes, start + end * row_bytes
            else:
                while last < self.granules and end + self.granule(last)[1] - start <= most:
                    end += self.granule(last)[1]
                    last += 1
                yield granule, last - granule, 0, WHOLE, start, end
            granule = last


def _sixteen(name: str, value: Any) -> bytes:
    size = len(value) if isinstance(value, (bytes, bytearray, memoryview)) else type(value).__name__
    if size != 16:
        raise ValueError(f"{name} must have 16 bytes (was {size})")
    return value


def _text(value: str) -> bytes:
    return _int(len(value.encode())) + value.encode()


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bits(field: dict[str, Any]) -> list[bool]:
    bits = base64.b64decode(field["bits"])
    return [bool(i >> 3 < len(bits) and bits[i >> 3] >> (i & 7) & 1) for i in range(field["size"])]


def encode_slice(space: Space, hashes: Sequence[bytes], window: int, remaining: int, position: int,
                 cut: Sequence[int], block: bytes) -> bytes:
    """A slice of one block: a piece of `block`, as `Space.cuts` cuts it."""
    granule, count, row, rows, start, end = cut
    data, begin = block[start:end], lambda number: space.granule(number)[0] - start
    parts = [crc32c(data[begin(each):begin(each) + space.granule(each)[1]] if rows == WHOLE else data)
             for each in range(granule, granule + count)]
    layer, plane = divmod(granule, len(space.planes))
    header = bytearray(HEADER.pack(b"PKS1", 1, 0, HEADER.size + 4 + 4 * count, 0, space.id, window, remaining, layer,
                                   plane, count, row, rows, 1, 0, len(data), crc32c(hashes[position])))
    header += struct.pack(f"<I{count}I", position, *parts)
    struct.pack_into("<I", header, 12, crc32c(header))
    return bytes(header) + data


class Arriving:
    """A block that arrives in parts, each byte once."""

    def __init__(self, size: int) -> None:
        self.bytes, self.parts = bytearray(size), []

    def whole(self) -> bytes:
        starts, ends = zip(*sorted(self.parts))
        if (*starts, len(self.bytes)) != (0, *ends):
            raise CorruptError(f"each byte of a block must come once (came {sorted(self.parts)})")
        return bytes(self.bytes)


def land_slice(space: Space, hashes: Sequence[bytes], frame: bytes, blocks: dict[int, Arriving]) -> None:
    """Verifies a slice and copies its bytes to `blocks`, by position. Raises CorruptError before it copies any."""
    (magic, version, flags, length, crc, space_id, _, _, layer, plane, count, row, rows, number, _, size,
     keys) = HEADER.unpack_from(frame.ljust(HEADER.size, b"\0"))
    header = frame[:12] + bytes(4) + frame[16:length]
    if magic != b"PKS1" or version != 1 or flags or len(frame) != length + size or crc32c(header) != crc:
        raise CorruptError("header of a slice is damaged")
    first = layer * len(space.planes) + plane
    if (space_id != space.id or not number or not count or length != HEADER.size + 4 * number * (1 + count)
            or plane >= len(space.planes) or first + count > space.granules):
        raise CorruptError("slice does not belong to this space")
    positions = struct.unpack_from(f"<{number}I", frame, HEADER.size)
    if max(positions) >= len(hashes) or crc32c(b"".join(hashes[each] for each in positions)) != keys:
        raise CorruptError("slice does not belong to this request")
    crcs = iter(struct.unpack_from(f"<{number * count}I", frame, HEADER.size + 4 * number))
    copies, at = [], length
    for position in positions:
        for granule in range(first, first + count):
            offset, whole, row_bytes = space.granule(granule)
            start, end = (0, whole) if rows == WHOLE else (row * row_bytes, (row + rows) * row_bytes)
            part = frame[at:at + end - start]
            if end > whole or crc32c(part) != next(crcs):
                raise CorruptError(f"granule {granule} of key {position} differs from its checksum")
            copies.append((position, offset + start, part))
            at += end - start
    if at != len(frame):
        raise CorruptError("slice has bytes beyond its granules")
    for position, offset, part in copies:
        block = blocks.setdefault(position, Arriving(space.block_bytes))
        block.bytes[offset:offset + len(part)] = part
        block.parts.append((offset, offset + len(part)))


def place(address: str) -> tuple[str, int | None]:
    """Host and port of an address; the path and None for a Unix domain socket."""
    found = re.fullmatch(r"unix:(.+)|(?:tcp://)?(?:\[([^\]]+)\]|([^:/\[\]]+)):([0-9]{1,5})", address)
    if not found or not 0 < int(found[4] or 1) < 65536:
        raise ValueError(f"address must be HOST:PORT, IPv6 in brackets, or unix:PATH (was {address})")
    return found[1] or found[2] or found[3], int(found[4]) if found[4] else None


class Node(contextlib.AbstractContextManager):
    """A connection to a node, for blocks of one space: the given one, or that of the node if none is given.
    It belongs to the thread that connects it, until another thread sets itself as `thread`."""

    @classmethod
    def at(cls, address: str, **options: Any) -> Node:
        """A node at an address as Penstock prints it: HOST:PORT, IPv6 in brackets, or unix:PATH."""
        return cls(*place(address), **options)

    def __init__(self, host: str, port: int | None, space: Space | None = None, user: str | None = None,
                 password: str = "", token: str | None = None, tls: Any = None, timeout: float = 30) -> None:
        """`host` is the path of a Unix domain socket if `port` is None. `tls` is True or an ssl.SSLContext; `timeout`
        bounds each wait for the node, in seconds."""
        self._in, self._lock, self._closed, self._stream = bytearray(), threading.Lock(), threading.Event(), -1
        self._socket = socket.create_connection((host, port), timeout) if port else socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self.thread = threading.current_thread()
        try:
            if port is None:
                self._socket.connect(host)
            if tls:
                context = ssl.create_default_context() if tls is True else tls
                self._socket = context.wrap_socket(self._socket, server_hostname=host)
            self._setup(user, password, token)
            threading.Thread(target=self._keep_alive, daemon=True).start()
            self.welcome = self._ask("hello", {"versions": [1], "client": "python", "space": space and space.message()})
        except BaseException:
            self.close()
            raise
        self.space = space or Space.told(self.welcome["space"])

    def _setup(self, user, password, token):
        metadata = b"\x81" + token.encode() if token is not None else b""
        if token is None and user is not None:
            metadata = b"\x80" + struct.pack(">H", len(user.encode())) + user.encode() + password.encode()
        length = len(metadata).to_bytes(3, "big")
        entry = (len(metadata) + 4).to_bytes(3, "big") + b"\xfc" + length + metadata if metadata else b""
        composite, data = b"message/x.rsocket.composite-metadata.v0", b"application/json"
        times = struct.pack(">HHII", 1, 0, 1000 * KEEPALIVE_SECONDS, 1000 * LIFETIME_SECONDS)
        types = bytes([len(composite)]) + composite + bytes([len(data)]) + data
        self._send(0, SETUP, METADATA if entry else 0, times + types + entry)

    def _keep_alive(self):
        while not self._closed.wait(KEEPALIVE_SECONDS):
            with contextlib.suppress(OSError):  # the next request says so
                self._send(0, KEEPALIVE, 0, bytes(8))

    def match(self, hashes: Sequence[bytes]) -> int:
        """How many of the first blocks the node has, without a gap."""
        return self._ask("match", {"keys": self.keys(hashes)})["prefix"]

    def exists(self, hashes: Sequence[bytes]) -> list[bool]:
        """Which of the blocks the node has."""
        return _bits(self._ask("exists", {"keys": self.keys(hashes)}))

    def remove(self, hashes: Sequence[bytes]) -> list[bool]:
        """Removes blocks; answers for which it was done."""
        return _bits(self._ask("remove", {"keys": self.keys(hashes)}))

    def stat(self) -> dict[str, Any]:
        """The figures of the node, as Stat in PROTOCOL.md."""
        return self._ask("stat", {"space": _b64(self.space.id)})

    def region(self, path: str, size: int, stride: int, **same: int) -> int:
        """Has the node map `size` bytes of a file in shared memory, with `device` and `inode` if given; its number."""
        where = {"path": path, "bytes": size, "stride": stride, **same}
        return self._ask("region", {"space": _b64(self.space.id), **where})["region"]

    def store(self, region: int, hashes: Sequence[bytes], slots: Sequence[int], **more: Any) -> list[int]:
        """Stores the bytes of slots as blocks. Answers 0 for each that the node has now, else a negative code."""
        return self.outcomes(self._ask("store", self.slots(region, hashes, slots, **more)))

    def load(self, region: int, hashes: Sequence[bytes], slots: Sequence[int], **more: Any) -> list[int]:
        """Copies verified blocks to slots. Answers 0 for each whose slot has it now, else a negative code."""
        if len({*slots}) < len(slots):
            raise ValueError(f"slots must be distinct (were {list(slots)})")
        return self.outcomes(self._ask("load", self.slots(region, hashes, slots, **more)))

    def slots(self, region: int, hashes: Sequence[bytes], slots: Sequence[int], millis: int | None = None,
              session: dict[str, Any] | None = None) -> dict[str, Any]:
        """The message of `store` and `load`."""
        if len(slots) != len(hashes) or not all(0 <= slot < 1 << 31 for slot in slots):
            raise ValueError(f"slots must be {len(hashes)}, one a hash, from 0 to {(1 << 31) - 1} (were {list(slots)})")
        return {"region": region, "keys": self.keys(hashes), "slots": _b64(struct.pack(f"<{len(slots)}i", *slots)),
                "ticket": 0, "millis": millis, "session": session}

    @staticmethod
    def outcomes(reply: dict[str, Any]) -> list[int]:
        """The answer to `store` and `load`, a number for each key."""
        codes = {each["position"]: each["code"] for each in reply["failed"]}
        return [0 if done else codes[i] for i, done in enumerate(_bits(reply))]

    def get(self, hashes: Sequence[bytes]) -> list[bytes | None]:
        """The blocks in the order of `hashes`, every byte verified; None for each that the node does not have."""
        request = {"keys": self.keys(hashes), "onMiss": "SKIP", "order": "LAYER_FIRST", "startLayer": 0, "ticket": 0,
                   "maxSliceBytes": self.welcome["maxSliceBytes"], "windowBlocks": self.welcome["windowBlocks"]}
        stream = self._open("get", REQUEST_STREAM, request, 1 + CREDIT)
        payloads, blocks = self._payloads(stream), {}
        found = _bits(json.loads(next(payloads))["found"])
        for data in payloads:
            try:
                land_slice(self.space, hashes, data, blocks)
            except CorruptError:
                self._send(stream, CANCEL, 0, b"")
                raise
            self._send(stream, REQUEST_N, 0, struct.pack(">I", 1))
        if sorted(blocks) != [i for i, one in enumerate(found) if one]:
            raise CorruptError(f"blocks must be the {sum(found)} found (were {len(blocks)})")
        return [blocks[i].whole() if i in blocks else None for i in range(len(hashes))]

    def put(self, hashes: Sequence[bytes], blocks: Sequence[bytes]) -> list[dict[str, Any]]:
        """Stores blocks. Answers one dict a hash: a receipt, {"present": True}, {"code": int}, or {} for a block that
        another writer is writing."""
        if [len(block) for block in blocks] != [self.space.block_bytes] * len(hashes):
            raise ValueError(f"blocks must be {len(hashes)}, one a hash, of {self.space.block_bytes} bytes each")
        request = {"keys": self.keys(hashes), "maxSliceBytes": self.welcome["maxSliceBytes"], "ticket": 0,
                   "windowBlocks": self.welcome["windowBlocks"], "outcomes": True}
        stream = self._open("put", REQUEST_CHANNEL, request, 2 * len(hashes) + 2)
        outcomes, waiting, credit, announced = [{} for _ in hashes], collections.deque(), 0, 0
        for kind, data in self._frames(stream):
            if kind == REQUEST_N:
                credit += struct.unpack(">I", data)[0]
            elif data:
                signal = json.loads(data)
                if room := signal.get("room"):
                    announced = room["first"] + room["wanted"]["size"]
                    waiting += self._window(room, outcomes)
                for each in (signal.get("stored") or []) + (signal.get("failed") or []):
                    outcomes[each["position"]] = {"code": each["code"]} if "code" in each else each
            while waiting and credit:
                credit -= 1
                window, remaining, position, cut = waiting.popleft()
                last = announced == len(hashes) and not waiting
                self._send(stream, PAYLOAD, NEXT | (COMPLETE if last else 0),
                           encode_slice(self.space, hashes, window, remaining, position, cut, blocks[position]))
        return outcomes

    def _window(self, room, outcomes):
        """Slices of a window, in the order in which they are sent: window, remaining, position, piece."""
        for i, one in enumerate(_bits(room["present"]) if room.get("present") else []):
            if one:
                outcomes[room["first"] + i] = {"present": True}
        pieces = [(room["first"] + i, cut) for i, one in enumerate(_bits(room["wanted"])) if one
                  for cut in self.space.cuts(self.welcome["maxSliceBytes"])]
        return [(room["window"], len(pieces) - 1 - i, *piece) for i, piece in enumerate(pieces)]

    def keys(self, hashes: Sequence[bytes]) -> dict[str, str]:
        if len(hashes) > self.welcome["maxKeys"]:
            raise ValueError(f"hashes must be <= {self.welcome['maxKeys']} (were {len(hashes)})")
        return {"space": _b64(self.space.id), "hashes": _b64(b"".join(_sixteen("hash", each) for each in hashes))}

    def _ask(self, route: str, message: dict[str, Any]) -> dict[str, Any]:
        (answer,) = self._payloads(self.begin(route, message))
        return json.loads(answer)

    def begin(self, route: str, message: dict[str, Any]) -> int:
        """Sends a request of one answer, which `receive` gives; answers its stream."""
        return self._open(route, REQUEST_RESPONSE, message)

    def _open(self, route, kind, message, credit=None):
        if (user := threading.current_thread()) is not self.thread:
            raise RuntimeError(f"node of {self.thread.name} must not be used by another thread (was {user.name})")
        self._stream += 2
        tag = b"penstock.v1." + route.encode()
        metadata = b"\xfe" + (len(tag) + 1).to_bytes(3, "big") + bytes([len(tag)]) + tag
        self._send(self._stream, kind, METADATA, (b"" if credit is None else struct.pack(">I", credit))
                   + len(metadata).to_bytes(3, "big") + metadata + json.dumps(message).encode())
        return self._stream

    def _payloads(self, stream):
        return (data for kind, data in self._frames(stream) if kind == PAYLOAD and data)

    def _frames(self, stream):
        """What comes on a stream until it ends: credit and payloads."""
        while True:
            found, kind, flags, body = self.receive()
            if kind == ERROR and found in (0, stream):
                raise PenstockError(body)
            if found == stream and kind in (REQUEST_N, PAYLOAD):
                if flags & METADATA:
                    body = body[3 + int.from_bytes(body[:3], "big"):]
                yield kind, body if kind == REQUEST_N or flags & NEXT else b""
                if kind == PAYLOAD and flags & COMPLETE:
                    return

    def _send(self, stream, kind, flags, body):
        frame = struct.pack(">IH", stream, kind << 10 | flags) + body
        if len(frame) > LONGEST_FRAME:
            raise ValueError(f"frame must have <= {LONGEST_FRAME} bytes (had {len(frame)})")
        with self._lock:
            if self._closed.is_set():
                raise ConnectionError("the connection is closed")
            try:
                self._socket.sendall(len(frame).to_bytes(3, "big") + frame)
            except OSError as error:  # a part of the frame may be out: nothing may follow it
                self._closed.set()
                with contextlib.suppress(OSError):  # wakes who waits for the node; the owner closes the socket
                    self._socket.shutdown(socket.SHUT_RDWR)
                if isinstance(error, ConnectionError):
                    raise ConnectionError("the node closed the connection") from error
                raise

    def receive(self) -> tuple[int, int, int, bytes]:
        """The next frame, without its length: stream, type, flags, and all behind them."""
        while not self.has_frame():
            data = b""
            with contextlib.suppress(ConnectionError):
                data = self._socket.recv(1 << 18)
            if not data:
                raise ConnectionError("the node closed the connection")
            self._in += data
        end = 3 + int.from_bytes(self._in[:3], "big")
        stream, word = struct.unpack_from(">IH", self._in, 3)
        body = bytes(self._in[9:end])
        del self._in[:end]
        if word >> 10 == KEEPALIVE and word & RESPOND:
            self._send(0, KEEPALIVE, 0, body)
        return stream, word >> 10, word & 0x3FF, body

    def has_frame(self) -> bool:
        return 3 <= len(self._in) >= 3 + int.from_bytes(self._in[:3], "big")

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._closed.set()
        self._socket.close()

    def __exit__(self, *_: Any) -> None:
        self.close()
