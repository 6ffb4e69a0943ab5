"""A small client of a Penstock node: hello, match, get and put, with Python's standard library alone.

It speaks RSocket 1.0 over TCP by hand, with control messages in JSON. PROTOCOL.md has the rules, small-client.md the
samples. One request runs at a time. Not safe for several threads at once.
"""

import base64
import collections
import hashlib
import json
import re
import socket
import ssl
import struct
import threading

SETUP, KEEPALIVE, REQUEST_RESPONSE, REQUEST_STREAM, REQUEST_CHANNEL = 0x01, 0x03, 0x04, 0x06, 0x07
REQUEST_N, CANCEL, PAYLOAD, ERROR = 0x08, 0x09, 0x0A, 0x0B
METADATA, COMPLETE, NEXT, RESPOND = 0x100, 0x40, 0x20, 0x80
LONGEST_FRAME = 0xFFFFFF
KEEPALIVE_SECONDS, LIFETIME_SECONDS = 20, 90
WHOLE = 0xFFFFFFFF
HEADER = struct.Struct("<4sHHII16sIIHHIIIIIII")  # a slice up to its positions, 72 bytes
CREDIT = 16  # slices that a get asks for ahead
BYTES = {"BF16": 2, "FP16": 2, "FP32": 4, "FP8_E4M3": 1, "FP8_E5M2": 1, "INT8": 1}


def _table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 if byte & 1 else byte >> 1
        yield byte


_TABLE = tuple(_table())


def crc32c(data):
    """CRC-32C (Castagnoli) of bytes. Table-driven, some MB/s; a faster one of the same signature may replace it."""
    crc, table = 0xFFFFFFFF, _TABLE
    for byte in bytes(data):
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class PenstockError(Exception):
    """A failure that the node reports: its code, its sentence, and its values by name (PROTOCOL.md, section 6)."""

    def __init__(self, code, text):
        sentence, _, values = text.partition("\x1e")
        super().__init__(f"0x{code:04X}: {sentence}")
        self.code = code
        self.sentence = sentence
        self.values = json.loads(values) if values.startswith("{") else {}
        self.transient = bool(code & 0x2000)


class CorruptError(Exception):
    """A slice that breaks its rules, or bytes that differ from their checksum: nothing of it was used."""


class Space:
    """What equal hashes mean: a model and the layout of its blocks. Planes are (kind, type, heads, width).

    A KV group that is not one of full attention has `window_tokens`, or `state_tokens` with blocks of one token, and may
    have the numbers of its layers in the model. `fingerprint` names weights and engine."""

    def __init__(self, model, layers, tokens, planes, order="NHD", group=0, salt="", space_id=None, window_tokens=0,
                 state_tokens=0, group_layers=(), fingerprint=""):
        self.model, self.layers, self.tokens, self.planes, self.order, self.group = (
            model, layers, tokens, [tuple(plane) for plane in planes], order, group)
        self.window_tokens, self.state_tokens, self.group_layers = window_tokens, state_tokens, list(group_layers)
        self.fingerprint = fingerprint
        self.id = space_id or self._id(salt)
        self.rows = [tokens if order == "NHD" else heads for _, _, heads, _ in self.planes]
        self.sizes = [tokens * heads * width * BYTES[kind] for _, kind, heads, width in self.planes]
        self.block_bytes = layers * sum(self.sizes)

    def _id(self, salt):
        words = [_text(self.model), _int(self.layers), _int(self.tokens), _text(self.order), _int(len(self.planes))]
        for kind, element, heads, width in self.planes:
            words += [_text(kind), _text(element), _int(heads), _int(width)]
        words += [_int(self.group), _text(salt)]
        if self._kind():
            words += [_text("group"), _int(self.window_tokens), _int(self.state_tokens), _int(len(self.group_layers)),
                      *map(_int, self.group_layers)]
        if self.fingerprint:
            words += [_text("fingerprint"), _text(self.fingerprint)]
        return hashlib.sha256(b"penstock.space.v1" + b"".join(words)).digest()[:16]

    def _kind(self):
        if not (self.window_tokens or self.state_tokens or self.group_layers):
            return {}
        return {"kind": {"windowTokens": self.window_tokens, "stateTokens": self.state_tokens,
                         "layers": self.group_layers}}

    def message(self):
        """The space as `hello` states it."""
        return {"id": _b64(self.id), "model": self.model, "layers": self.layers, "tokens": self.tokens,
                "order": self.order, "group": self.group, **self._kind(),
                "planes": [dict(zip(("kind", "type", "heads", "width"), plane)) for plane in self.planes],
                **({"fingerprint": self.fingerprint} if self.fingerprint else {})}

    @staticmethod
    def told(message):
        """The space that a node tells."""
        kind = message.get("kind") or {}
        return Space(message["model"], message["layers"], message["tokens"], [
            (plane["kind"], plane["type"], plane["heads"], plane["width"]) for plane in message["planes"]],
            message["order"], message["group"], "", base64.b64decode(message["id"]), kind.get("windowTokens", 0),
            kind.get("stateTokens", 0), kind.get("layers", ()), message.get("fingerprint") or "")

    def hashes(self, tokens, extra=()):
        """Hashes of the blocks that a prompt fills; of the states, in the space of a group of states."""
        found, parent, step = [], bytes(16), self.state_tokens or self.tokens
        for first in range(0, len(tokens) - step + 1, step):
            block = tokens[first:first + step]
            parent = hashlib.sha256(b"penstock.prefix.v1" + parent + _int(len(block)) + b"".join(map(_int, block))
                                    + _int(len(extra)) + b"".join(map(_text, extra))).digest()[:16]
            found.append(parent)
        return found

    def granule(self, number):
        """Offset and length of a granule in its block, and the length of one of its rows."""
        layer, plane = divmod(number, len(self.planes))
        return (layer * sum(self.sizes) + sum(self.sizes[:plane]), self.sizes[plane],
                self.sizes[plane] // self.rows[plane])

    def granules(self):
        return self.layers * len(self.planes)

    def cuts(self, most):
        """Pieces of a block that fit a slice of `most` bytes: granule, granules, first row, rows, range of bytes."""
        granule = 0
        while granule < self.granules():
            start, size, row_bytes = self.granule(granule)
            if size > most:
                rows, step = size // row_bytes, most // row_bytes
                for row in range(0, rows, step):
                    end = min(rows, row + step)
                    yield granule, 1, row, end - row, start + row * row_bytes, start + end * row_bytes
                granule += 1
                continue
            last, end = granule + 1, start + size
            while last < self.granules() and end + self.granule(last)[1] - start <= most:
                end += self.granule(last)[1]
                last += 1
            yield granule, last - granule, 0, WHOLE, start, end
            granule = last


def _int(value):
    return struct.pack("<i", value)


def _text(value):
    return _int(len(value.encode())) + value.encode()


def _b64(data):
    return base64.b64encode(data).decode()


def _bits(field):
    bits = base64.b64decode(field["bits"])
    return [bool(i >> 3 < len(bits) and bits[i >> 3] >> (i & 7) & 1) for i in range(field["size"])]


def encode_slice(space, hashes, window, remaining, position, cut, block):
    """A slice of one block: a piece of `block`, as `Space.cuts` cuts it."""
    granule, count, row, rows, start, end = cut
    parts, at, data = [], 0, block[start:end]
    for number in range(granule, granule + count):
        length = space.granule(number)[1] if rows == WHOLE else len(data)
        parts.append(crc32c(data[at:at + length]))
        at += length
    layer, plane = divmod(granule, len(space.planes))
    header = bytearray(HEADER.pack(b"PKS1", 1, 0, HEADER.size + 4 + 4 * count, 0, space.id, window, remaining, layer,
                                   plane, count, row, rows, 1, 0, len(data), crc32c(hashes[position])))
    header += struct.pack(f"<I{count}I", position, *parts)
    struct.pack_into("<I", header, 12, crc32c(header))
    return bytes(header) + data


class Arriving:
    """A block that arrives in parts, each byte once."""

    def __init__(self, size):
        self.bytes, self.parts = bytearray(size), []

    def whole(self):
        at = 0
        for start, end in sorted(self.parts):
            if start != at:
                raise CorruptError(f"byte {min(start, at)} of a block must come once")
            at = end
        if at != len(self.bytes):
            raise CorruptError(f"block must have {len(self.bytes)} bytes (had {at})")
        return bytes(self.bytes)


def land_slice(space, hashes, frame, blocks):
    """Verifies a slice and copies its bytes to `blocks`, by position. Raises CorruptError before it copies any."""
    if len(frame) < HEADER.size:
        raise CorruptError(f"slice must have {HEADER.size} bytes (had {len(frame)})")
    (magic, version, flags, length, crc, space_id, _, _, layer, plane, count, row, rows, number, _, size,
     keys) = HEADER.unpack_from(frame)
    header = bytearray(frame[:length])
    header[12:16] = bytes(4)
    if magic != b"PKS1" or version != 1 or flags or len(frame) != length + size or crc32c(header) != crc:
        raise CorruptError("header of a slice is damaged")
    first = layer * len(space.planes) + plane
    if (space_id != space.id or not number or not count or length != HEADER.size + 4 * number * (1 + count)
            or plane >= len(space.planes) or first + count > space.granules()):
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


def place(address):
    """Host and port of an address; the path and None for a Unix domain socket."""
    if address.startswith("unix:") and len(address) > len("unix:"):
        return address[len("unix:"):], None
    found = re.fullmatch(r"(?:tcp://)?(?:\[([^\]]+)\]|([^:/\[\]]+)):([0-9]{1,5})", address)
    if not found or not 0 < int(found[3]) < 65536:
        raise ValueError(f"address must be HOST:PORT, IPv6 in brackets, or unix:PATH (was {address})")
    return found[1] or found[2], int(found[3])


class Node:
    """A connection to a node, for blocks of one space: the given one, or that of the node if none is given."""

    @classmethod
    def at(cls, address, **options):
        """A node at an address as Penstock prints it: HOST:PORT, IPv6 in brackets, or unix:PATH."""
        return cls(*place(address), **options)

    def __init__(self, host, port, space=None, user=None, password="", token=None, tls=None, timeout=30):
        """`host` is the path of a Unix domain socket if `port` is None. `tls` is True or an ssl.SSLContext; `timeout`
        bounds each wait for the node, in seconds."""
        if port is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(timeout)
            self._socket.connect(host)
        else:
            self._socket = socket.create_connection((host, port), timeout)
        if tls:
            context = ssl.create_default_context() if tls is True else tls
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        self._in = self._socket.makefile("rb")
        self._lock, self._closed, self._stream = threading.Lock(), threading.Event(), -1
        self._setup(user, password, token)
        threading.Thread(target=self._keep_alive, daemon=True).start()
        try:
            self._hello(space)
        except BaseException:
            self.close()
            raise

    def _hello(self, space):
        self.welcome = self._ask("hello", {"versions": [1], "client": "python", "space": space and space.message()})
        self.space = space or Space.told(self.welcome["space"])

    def _setup(self, user, password, token):
        metadata = b""
        if token is not None:
            metadata = b"\x81" + token.encode()
        elif user is not None:
            metadata = b"\x80" + struct.pack(">H", len(user.encode())) + user.encode() + password.encode()
        entry = b"\xfc" + len(metadata).to_bytes(3, "big") + metadata if metadata else b""
        composite, data = b"message/x.rsocket.composite-metadata.v0", b"application/json"
        self._send(0, SETUP, METADATA, struct.pack(
            ">HHII", 1, 0, 1000 * KEEPALIVE_SECONDS, 1000 * LIFETIME_SECONDS) + bytes([len(composite)]) + composite
            + bytes([len(data)]) + data + len(entry).to_bytes(3, "big") + entry)

    def _keep_alive(self):
        while not self._closed.wait(KEEPALIVE_SECONDS):
            try:
                self._send(0, KEEPALIVE, 0, bytes(8))
            except OSError:
                return  # the next request says so

    def match(self, hashes):
        """How many of the first blocks the node has, without a gap."""
        return self._ask("match", {"keys": self._keys(hashes)})["prefix"]

    def get(self, hashes):
        """The blocks in the order of `hashes`, every byte verified; None for each that the node does not have."""
        request = {"keys": self._keys(hashes), "onMiss": "SKIP", "order": "LAYER_FIRST", "startLayer": 0, "ticket": 0,
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

    def put(self, hashes, blocks):
        """Stores blocks. Answers one dict a hash: a receipt, {"present": True}, {"code": int}, or {} for a block that
        another writer is writing."""
        if len(blocks) != len(hashes):
            raise ValueError(f"blocks must be {len(hashes)}, one a hash (were {len(blocks)})")
        for block in blocks:
            if len(block) != self.space.block_bytes:
                raise ValueError(f"block must have {self.space.block_bytes} bytes (had {len(block)})")
        request = {"keys": self._keys(hashes), "maxSliceBytes": self.welcome["maxSliceBytes"], "ticket": 0,
                   "windowBlocks": self.welcome["windowBlocks"], "outcomes": True}
        stream = self._open("put", REQUEST_CHANNEL, request, 2 * len(hashes) + 2)
        outcomes, waiting, credit, announced = [{} for _ in hashes], collections.deque(), 0, 0
        for kind, data in self._frames(stream):
            if kind == REQUEST_N:
                credit += struct.unpack(">I", data)[0]
            elif data:
                signal = json.loads(data)
                if signal.get("room"):
                    room = signal["room"]
                    announced = room["first"] + room["wanted"]["size"]
                    waiting += self._window(room, outcomes)
                for each in signal.get("stored") or []:
                    outcomes[each["position"]] = each
                for each in signal.get("failed") or []:
                    outcomes[each["position"]] = {"code": each["code"]}
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

    def _keys(self, hashes):
        if len(hashes) > self.welcome["maxKeys"]:
            raise ValueError(f"hashes must be <= {self.welcome['maxKeys']} (were {len(hashes)})")
        return {"space": _b64(self.space.id), "hashes": _b64(b"".join(hashes))}

    def _ask(self, route, message):
        (answer,) = self._payloads(self._open(route, REQUEST_RESPONSE, message))
        return json.loads(answer)

    def _open(self, route, kind, message, credit=None):
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
            found, kind, flags, body = self._receive()
            if kind == ERROR and found in (0, stream):
                raise PenstockError(struct.unpack_from(">I", body)[0], body[4:].decode())
            if kind == KEEPALIVE and flags & RESPOND:
                self._send(0, KEEPALIVE, 0, body)
            elif found == stream and kind in (REQUEST_N, PAYLOAD):
                if flags & METADATA:
                    body = body[3 + int.from_bytes(body[:3], "big"):]
                yield kind, body if kind == REQUEST_N or flags & NEXT else b""
                if kind == PAYLOAD and flags & COMPLETE:
                    return

    def _send(self, stream, kind, flags, body):
        frame = struct.pack(">IH", stream, kind << 10 | flags) + body
        if len(frame) > LONGEST_FRAME:
            raise ValueError(f"frame must have <= {LONGEST_FRAME} bytes (had {len(frame)})")
        try:
            with self._lock:
                self._socket.sendall(len(frame).to_bytes(3, "big") + frame)
        except ConnectionError as error:
            raise ConnectionError("the node closed the connection") from error

    def _receive(self):
        frame = self._read(int.from_bytes(self._read(3), "big"))
        stream, word = struct.unpack_from(">IH", frame)
        return stream, word >> 10, word & 0x3FF, frame[6:]

    def _read(self, count):
        try:
            data = self._in.read(count)
        except ConnectionError as error:
            raise ConnectionError("the node closed the connection") from error
        if len(data) < count:
            raise ConnectionError("the node closed the connection")
        return data

    def close(self):
        self._closed.set()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
