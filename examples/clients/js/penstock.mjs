// A small client of a Penstock node: hello, match, get and put, without a dependency.
//
// It speaks RSocket 1.0 over TCP by hand, with control messages in JSON. PROTOCOL.md has the rules, small-client.md the
// samples. Requests may run side by side. Types: penstock.d.ts.
import { createHash } from "node:crypto";
import net from "node:net";
import tls from "node:tls";

const SETUP = 1, KEEPALIVE = 3, REQUEST_RESPONSE = 4, REQUEST_STREAM = 6, REQUEST_CHANNEL = 7;
const REQUEST_N = 8, CANCEL = 9, PAYLOAD = 10, ERROR = 11;
const METADATA = 0x100, COMPLETE = 0x40, NEXT = 0x20, RESPOND = 0x80;
const LONGEST_FRAME = 0xffffff;
const KEEPALIVE_MS = 20_000, LIFETIME_MS = 90_000;
const WHOLE = 0xffffffff;
const HEADER_BYTES = 72; // a slice up to its positions
const CREDIT = 16; // slices that a get asks for ahead
const WIDTHS = { BF16: 2, FP16: 2, FP32: 4, FP8_E4M3: 1, FP8_E5M2: 1, INT8: 1 };

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0x82f63b78 : byte >>> 1;
  return byte;
});

/** CRC-32C (Castagnoli) of bytes. */
export function crc32c(data) {
  let crc = -1;
  for (let i = 0; i < data.length; i++) crc = TABLE[(crc ^ data[i]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A failure that the node reports: its code, its sentence, and its values by name (PROTOCOL.md, section 6). */
export class PenstockError extends Error {
  constructor(code, text) {
    const [sentence, values] = text.split("\x1e");
    super(`0x${code.toString(16).toUpperCase().padStart(4, "0")}: ${sentence}`);
    this.name = "PenstockError";
    this.code = code;
    this.sentence = sentence;
    this.values = values?.startsWith("{") ? JSON.parse(values) : {};
    this.transient = (code & 0x2000) !== 0;
  }
}

/** A slice that breaks its rules, or bytes that differ from their checksum: nothing of it was used. */
export class CorruptError extends Error {
  name = "CorruptError";
}

const int = (value) => { const bytes = Buffer.alloc(4); bytes.writeInt32LE(value); return bytes; };
const int24 = (value) => Buffer.from([value >>> 16, (value >>> 8) & 0xff, value & 0xff]);
const uint32 = (value) => { const bytes = Buffer.alloc(4); bytes.writeUInt32BE(value); return bytes; };
const text = (value) => { const bytes = Buffer.from(value); return Buffer.concat([int(bytes.length), bytes]); };
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest().subarray(0, 16);
const viewed = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength); // no copy
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

function bits(field) {
  const bytes = Buffer.from(field.bits, "base64");
  return Array.from({ length: field.size }, (_, i) => ((bytes[i >> 3] ?? 0) >> (i & 7) & 1) === 1);
}

/** What equal hashes mean: a model and the layout of its blocks. */
export class Space {
  constructor({ model, layers, tokens, planes, order = "NHD", group = 0, salt = "", id, kind, fingerprint = "" }) {
    Object.assign(this, { model, layers, tokens, planes, order, group, kind, fingerprint });
    this.id = id ?? sha256(Buffer.from("penstock.space.v1"), text(model), int(layers), int(tokens), text(order),
      int(planes.length), ...planes.flatMap((one) => [text(one.kind), text(one.type), int(one.heads), int(one.width)]),
      int(group), text(salt), ...(kind ? [text("group"), int(kind.windowTokens), int(kind.stateTokens),
        int(kind.layers.length), ...kind.layers.map(int)] : []),
      ...(fingerprint ? [text("fingerprint"), text(fingerprint)] : []));
    this.sizes = planes.map((one) => tokens * one.heads * one.width * WIDTHS[one.type]);
    this.rows = planes.map((one) => (order === "NHD" ? tokens : one.heads));
    this.layerBytes = this.sizes.reduce((sum, size) => sum + size, 0);
    this.blockBytes = layers * this.layerBytes;
    this.granules = layers * planes.length;
  }

  /** The space as `hello` states it. */
  message() {
    const { id, model, layers, tokens, order, planes, group, kind, fingerprint } = this;
    return { id: base64(id), model, layers, tokens, order, planes, group, ...(kind && { kind }),
      ...(fingerprint && { fingerprint }) };
  }

  /** Hashes of the blocks that a prompt fills; of the states, in the space of a group of states. */
  hashes(tokens, extra = []) {
    const found = [], step = this.kind?.stateTokens || this.tokens;
    let parent = Buffer.alloc(16);
    for (let first = 0; first + step <= tokens.length; first += step) {
      const block = Array.from(tokens.slice(first, first + step));
      parent = sha256(Buffer.from("penstock.prefix.v1"), parent, int(block.length), ...block.map(int),
        int(extra.length), ...extra.map(text));
      found.push(parent);
    }
    return found;
  }

  /** Where a granule lies in its block, its length, and the length of one of its rows. */
  granule(number) {
    const plane = number % this.planes.length;
    const before = this.sizes.slice(0, plane).reduce((sum, size) => sum + size, 0);
    return { offset: Math.floor(number / this.planes.length) * this.layerBytes + before, size: this.sizes[plane],
      rowBytes: this.sizes[plane] / this.rows[plane] };
  }

  /** Pieces of a block that fit a slice of `most` bytes. */
  cuts(most) {
    const cuts = [];
    for (let granule = 0; granule < this.granules;) {
      const { offset, size, rowBytes } = this.granule(granule);
      if (size > most) {
        for (let row = 0, step = Math.floor(most / rowBytes); row < size / rowBytes; row += step) {
          const rows = Math.min(step, size / rowBytes - row);
          const start = offset + row * rowBytes;
          cuts.push({ granule, count: 1, row, rows, start, end: start + rows * rowBytes });
        }
        granule++;
        continue;
      }
      let last = granule + 1, end = offset + size;
      while (last < this.granules && end + this.granule(last).size - offset <= most) end += this.granule(last++).size;
      cuts.push({ granule, count: last - granule, row: 0, rows: WHOLE, start: offset, end });
      granule = last;
    }
    return cuts;
  }
}

/** A slice of one block: a piece of `block`, as `Space.cuts` cuts it. */
export function encodeSlice(space, hashes, window, remaining, position, cut, block) {
  const data = block.subarray(cut.start, cut.end);
  const header = Buffer.alloc(HEADER_BYTES + 4 + 4 * cut.count);
  header.write("PKS1", 0, "latin1");
  header.writeUInt16LE(1, 4);
  header.writeUInt32LE(header.length, 8);
  Buffer.from(space.id).copy(header, 16);
  header.writeUInt16LE(Math.floor(cut.granule / space.planes.length), 40);
  header.writeUInt16LE(cut.granule % space.planes.length, 42);
  [[window, 32], [remaining, 36], [cut.count, 44], [cut.row, 48], [cut.rows, 52], [1, 56], [data.length, 64],
    [crc32c(hashes[position]), 68], [position, 72]].forEach(([value, at]) => header.writeUInt32LE(value, at));
  for (let i = 0, at = 0; i < cut.count; i++) {
    const end = cut.rows === WHOLE ? at + space.granule(cut.granule + i).size : data.length;
    header.writeUInt32LE(crc32c(data.subarray(at, end)), HEADER_BYTES + 4 + 4 * i);
    at = end;
  }
  header.writeUInt32LE(crc32c(header), 12);
  return Buffer.concat([header, data]);
}

/** A block that arrives in parts, each byte once. */
class Arriving {
  parts = [];

  constructor(size) {
    this.bytes = Buffer.alloc(size);
  }

  whole() {
    let at = 0;
    for (const [start, end] of this.parts.sort((one, other) => one[0] - other[0])) {
      if (start !== at) throw new CorruptError(`byte ${Math.min(start, at)} of a block must come once`);
      at = end;
    }
    if (at !== this.bytes.length) throw new CorruptError(`block must have ${this.bytes.length} bytes (had ${at})`);
    return this.bytes;
  }
}

/** Verifies a slice and copies its bytes to `blocks`, by position. Throws CorruptError before it copies any. */
export function landSlice(space, hashes, frame, blocks) {
  if (frame.length < HEADER_BYTES) throw new CorruptError(`slice must have ${HEADER_BYTES} bytes (had ${frame.length})`);
  const [length, crc, plane, layer, count, row, rows, number, size, keys] = [frame.readUInt32LE(8),
    frame.readUInt32LE(12), frame.readUInt16LE(42), frame.readUInt16LE(40), ...[44, 48, 52, 56, 64, 68].map(
      (at) => frame.readUInt32LE(at))];
  const header = Buffer.from(frame.subarray(0, length)).fill(0, 12, 16);
  if (frame.toString("latin1", 0, 4) !== "PKS1" || frame.readUInt16LE(4) !== 1 || frame.readUInt16LE(6) !== 0
    || frame.length !== length + size || crc32c(header) !== crc) throw new CorruptError("header of a slice is damaged");
  const first = layer * space.planes.length + plane;
  if (!frame.subarray(16, 32).equals(space.id) || !number || !count || plane >= space.planes.length
    || length !== HEADER_BYTES + 4 * number * (1 + count) || first + count > space.granules) {
    throw new CorruptError("slice does not belong to this space");
  }
  const positions = Array.from({ length: number }, (_, i) => frame.readUInt32LE(HEADER_BYTES + 4 * i));
  if (positions.some((one) => one >= hashes.length)
    || crc32c(Buffer.concat(positions.map((one) => hashes[one]))) !== keys) {
    throw new CorruptError("slice does not belong to this request");
  }
  const copies = [];
  let at = length, next = HEADER_BYTES + 4 * number;
  for (const position of positions) {
    for (let granule = first; granule < first + count; granule++, next += 4) {
      const { offset, size: whole, rowBytes } = space.granule(granule);
      const [start, end] = rows === WHOLE ? [0, whole] : [row * rowBytes, (row + rows) * rowBytes];
      const part = frame.subarray(at, at + end - start);
      if (end > whole || crc32c(part) !== frame.readUInt32LE(next)) {
        throw new CorruptError(`granule ${granule} of key ${position} differs from its checksum`);
      }
      copies.push([position, offset + start, part]);
      at += end - start;
    }
  }
  if (at !== frame.length) throw new CorruptError("slice has bytes beyond its granules");
  for (const [position, offset, part] of copies) {
    if (!blocks.has(position)) blocks.set(position, new Arriving(space.blockBytes));
    part.copy(blocks.get(position).bytes, offset);
    blocks.get(position).parts.push([offset, offset + part.length]);
  }
}

/** Host and port of an address; the path and null for a Unix domain socket. */
export function place(address) {
  if (/^unix:./s.test(address)) return { host: address.slice("unix:".length), port: null };
  const found = /^(?:tcp:\/\/)?(?:\[([^\]]+)\]|([^:/[\]]+)):([0-9]{1,5})$/.exec(address);
  if (!found || !(found[3] > 0 && found[3] < 65536)) {
    throw new Error(`address must be HOST:PORT, IPv6 in brackets, or unix:PATH (was ${address})`);
  }
  return { host: found[1] ?? found[2], port: Number(found[3]) };
}

/** A connection to a node, for blocks of one space. */
export class Node {
  #socket; #streams = new Map(); #last = -1; #pending = []; #buffered = 0; #ended = null; #beat; #timeout;

  /** Connects to a node at an address as Penstock prints it: HOST:PORT, IPv6 in brackets, or unix:PATH. */
  static at(address, options) {
    const { host, port } = place(address);
    return Node.connect(host, port, options);
  }

  /** Connects, and agrees on the space: the given one, or that of the node if none is given. Without a port, the host
   * is the path of a Unix domain socket. */
  static async connect(host, port, { space, user, password = "", token, tls: secured, timeout = 30_000 } = {}) {
    const node = new Node();
    const to = port === null ? { path: host } : { host, port, noDelay: true };
    if (port !== null && !net.isIP(host)) to.servername = host;
    node.#socket = secured ? tls.connect({ ...to, ...(secured === true ? {} : secured) }) : net.connect(to);
    node.#timeout = timeout;
    node.#socket.on("data", (data) => node.#receive(data));
    node.#socket.on("error", (error) => node.#end(error));
    node.#socket.on("close", () => node.#end(new Error("the node closed the connection")));
    node.#setUp(user, password, token);
    node.#beat = setInterval(() => node.#send(0, KEEPALIVE, 0, Buffer.alloc(8)), KEEPALIVE_MS).unref();
    try {
      node.welcome = await node.#ask("hello", { versions: [1], client: "js", space: space?.message() ?? null });
    } catch (error) {
      node.close();
      throw error;
    }
    const told = node.welcome.space;
    node.space = space ?? new Space({ ...told, id: Buffer.from(told.id, "base64"), kind: told.kind ?? undefined,
      fingerprint: told.fingerprint ?? "" });
    return node;
  }

  #setUp(user, password, token) {
    const name = Buffer.from(user ?? "");
    const shown = token !== undefined ? Buffer.concat([Buffer.from([0x81]), Buffer.from(token)])
      : user !== undefined ? Buffer.concat([Buffer.from([0x80, name.length >> 8, name.length & 0xff]), name,
        Buffer.from(password)]) : Buffer.alloc(0);
    const entry = shown.length ? Buffer.concat([Buffer.from([0xfc]), int24(shown.length), shown]) : shown;
    const mime = (type) => Buffer.concat([Buffer.from([type.length]), Buffer.from(type)]);
    this.#send(0, SETUP, METADATA, Buffer.concat([Buffer.from([0, 1, 0, 0]), uint32(KEEPALIVE_MS), uint32(LIFETIME_MS),
      mime("message/x.rsocket.composite-metadata.v0"), mime("application/json"), int24(entry.length), entry]));
  }

  /** How many of the first blocks the node has, without a gap. */
  async match(hashes) {
    return (await this.#ask("match", { keys: this.#keys(hashes) })).prefix;
  }

  /** The blocks in the order of `hashes`, every byte verified; null for each that the node does not have. */
  async get(hashes) {
    const blocks = new Map();
    let found = null;
    await this.#run("get", REQUEST_STREAM, { keys: this.#keys(hashes), onMiss: "SKIP", order: "LAYER_FIRST",
      startLayer: 0, ticket: 0, ...this.#terms() }, 1 + CREDIT, (stream, kind, data) => {
      if (kind !== PAYLOAD || !data) return;
      if (found === null) {
        found = bits(JSON.parse(data).found);
        return;
      }
      landSlice(this.space, hashes, data, blocks);
      this.#send(stream, REQUEST_N, 0, uint32(1));
    });
    if (!found || found.some((one, i) => one !== blocks.has(i))) throw new CorruptError("a found block did not come");
    return hashes.map((_, i) => blocks.get(i)?.whole() ?? null);
  }

  /** Stores blocks; see penstock.d.ts for the outcomes. */
  async put(hashes, blocks) {
    if (blocks.length !== hashes.length) {
      throw new RangeError(`blocks must be ${hashes.length}, one a hash (were ${blocks.length})`);
    }
    const wrong = blocks.find((one) => one.length !== this.space.blockBytes);
    if (wrong) throw new RangeError(`block must have ${this.space.blockBytes} bytes (had ${wrong.length})`);
    const outcomes = hashes.map(() => ({}));
    const waiting = [];
    let credit = 0, announced = 0;
    await this.#run("put", REQUEST_CHANNEL, { keys: this.#keys(hashes), ticket: 0, outcomes: true, ...this.#terms() },
      2 * hashes.length + 2, (stream, kind, data) => {
        if (kind === REQUEST_N) {
          credit += data.readUInt32BE(0);
        } else if (data) {
          const { room, stored, failed } = JSON.parse(data);
          if (room) {
            announced = room.first + room.wanted.size;
            bits(room.present ?? { size: 0, bits: "" }).forEach((one, i) => {
              if (one) outcomes[room.first + i] = { present: true };
            });
            const cuts = this.space.cuts(this.welcome.maxSliceBytes);
            const slices = bits(room.wanted).flatMap((one, i) => (one ? cuts.map((cut) => [room.first + i, cut]) : []));
            slices.forEach(([position, cut], i) => waiting.push([room.window, slices.length - 1 - i, position, cut]));
          }
          stored?.forEach((one) => { outcomes[one.position] = one; });
          failed?.forEach((one) => { outcomes[one.position] = { code: one.code }; });
        }
        for (; waiting.length && credit; credit--) {
          const [window, remaining, position, cut] = waiting.shift();
          const last = announced === hashes.length && !waiting.length;
          this.#send(stream, PAYLOAD, last ? NEXT | COMPLETE : NEXT,
            encodeSlice(this.space, hashes, window, remaining, position, cut, viewed(blocks[position])));
        }
      });
    return outcomes;
  }

  #terms() {
    return { maxSliceBytes: this.welcome.maxSliceBytes, windowBlocks: this.welcome.windowBlocks };
  }

  #keys(hashes) {
    if (hashes.length > this.welcome.maxKeys) {
      throw new RangeError(`hashes must be <= ${this.welcome.maxKeys} (were ${hashes.length})`);
    }
    return { space: base64(this.space.id), hashes: base64(Buffer.concat(hashes)) };
  }

  async #ask(route, message) {
    let answer;
    await this.#run(route, REQUEST_RESPONSE, message, null, (_, kind, data) => { answer = data ?? answer; });
    return JSON.parse(answer);
  }

  /** Runs a stream: `heard` gets its credit and payloads; ends when the stream ends. */
  #run(route, kind, message, credit, heard) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw this.#ended;
      const stream = (this.#last += 2);
      const tag = Buffer.from(`penstock.v1.${route}`);
      const metadata = Buffer.concat([Buffer.from([0xfe]), int24(tag.length + 1), Buffer.from([tag.length]), tag]);
      this.#send(stream, kind, METADATA, Buffer.concat([credit === null ? Buffer.alloc(0) : uint32(credit),
        int24(metadata.length), metadata, Buffer.from(JSON.stringify(message))]));
      const timer = setTimeout(() => this.#end(new Error(`the node must answer within ${this.#timeout} ms`)),
        this.#timeout);
      this.#streams.set(stream, { heard: (type, data) => heard(stream, type, data), resolve, reject, timer });
    });
  }

  #send(stream, kind, flags, body) {
    const head = Buffer.alloc(9);
    if (body.length + 6 > LONGEST_FRAME) throw new RangeError(`frame must have <= ${LONGEST_FRAME} bytes`);
    head.writeUIntBE(body.length + 6, 0, 3);
    head.writeUInt32BE(stream, 3);
    head.writeUInt16BE((kind << 10) | flags, 7);
    this.#socket.write(Buffer.concat([head, body]));
  }

  #receive(data) {
    try {
      this.#frames(data);
    } catch (error) { // a frame that is too short, or values that are no JSON: the connection is of no more use
      this.#end(error);
    }
  }

  #frames(data) {
    this.#pending.push(data);
    this.#buffered += data.length;
    const first = this.#pending[0].length < 3 ? Buffer.concat(this.#pending) : this.#pending[0];
    if (this.#buffered < 3 || this.#buffered < 3 + first.readUIntBE(0, 3)) return;
    let all = this.#pending.length === 1 ? data : Buffer.concat(this.#pending);
    while (all.length >= 3 && all.length >= 3 + all.readUIntBE(0, 3)) {
      const end = 3 + all.readUIntBE(0, 3);
      this.#frame(all.readUInt32BE(3), all.readUInt16BE(7), all.subarray(9, end));
      all = all.subarray(end);
    }
    this.#pending = all.length ? [all] : [];
    this.#buffered = all.length;
  }

  #frame(stream, word, body) {
    const kind = word >> 10;
    if (kind === ERROR) {
      const error = new PenstockError(body.readUInt32BE(0), body.toString("utf8", 4));
      if (stream === 0) this.#end(error);
      else this.#over(stream)?.reject(error);
    } else if (kind === KEEPALIVE && word & RESPOND) {
      this.#send(0, KEEPALIVE, 0, body);
    } else if (kind === REQUEST_N || kind === PAYLOAD) {
      this.#hear(stream, kind, word, word & METADATA ? body.subarray(3 + body.readUIntBE(0, 3)) : body);
    }
  }

  #hear(stream, kind, word, body) {
    try {
      this.#streams.get(stream)?.timer.refresh();
      this.#streams.get(stream)?.heard(kind, kind === REQUEST_N || word & NEXT ? body : null);
      if (kind === PAYLOAD && word & COMPLETE) this.#over(stream)?.resolve();
    } catch (error) {
      this.#send(stream, CANCEL, 0, Buffer.alloc(0));
      this.#over(stream)?.reject(error);
    }
  }

  #over(stream) {
    const one = this.#streams.get(stream);
    clearTimeout(one?.timer);
    this.#streams.delete(stream);
    return one;
  }

  #end(error) {
    this.#ended ??= error;
    clearInterval(this.#beat);
    for (const stream of [...this.#streams.keys()]) this.#over(stream).reject(this.#ended);
    this.#socket.destroy();
  }

  close() {
    this.#end(new Error("the client closed the connection"));
  }
}
