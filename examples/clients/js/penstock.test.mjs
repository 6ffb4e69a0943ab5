import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as penstock from "./penstock.mjs";

const { Space, crc32c, encodeSlice, landSlice, CorruptError, PenstockError } = penstock;
const plane = (kind) => ({ kind, type: "INT8", heads: 1, width: 4 });
const space = new Space({ model: "example", layers: 2, tokens: 2, planes: [plane("KEY"), plane("VALUE")] });
const hashes = space.hashes([1, 2]);
const block = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const slices = (most) => space.cuts(most).map((cut, i, all) => encodeSlice(space, hashes, 0, all.length - 1 - i, 0, cut,
  block));

/** A block of bytes of PROTOCOL.md. */
const sample = (name) => Buffer.from(new RegExp("```hex " + name + "\n([^`]*)```").exec(
  readFileSync(new URL("../../../rsocket-api/wire/PROTOCOL.md", import.meta.url), "utf8"))[1].replace(/\s/g, ""), "hex");

test("checksums, keys and slices are those of the protocol", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  assert.deepEqual(Buffer.concat([space.id, ...hashes]), sample("key"));
  assert.deepEqual(slices(16)[0], sample("slice"));
});

test("groups and fingerprints are in the id and in the message", () => {
  const fields = { model: "example", layers: 2, tokens: 2, planes: [plane("KEY"), plane("VALUE")] };
  const named = new Space({ ...fields, fingerprint: "w1 é" });
  const window = new Space({ ...fields, group: 1, salt: "s", fingerprint: "w1",
    kind: { windowTokens: 8, stateTokens: 0, layers: [0, 2] } });
  const states = new Space({ ...fields, tokens: 1, planes: [plane("STATE")], group: 2,
    kind: { windowTokens: 0, stateTokens: 4, layers: [] } });
  assert.deepEqual([named, window, states].map((one) => one.id.toString("hex")), [ // as the node computes them
    "1e896fc774f899c5d39c57e66d6221ff", "faaa62fdd70fe3af49909037589ce1d7",
    "1fd7ca50729f880ec5d2e3efe2c3bf9e"]);
  assert.deepEqual(states.hashes([1, 2, 3, 4, 5]).map((one) => one.toString("hex")), ["1103c1de208de31385e3b6e3d240934d"]);
  assert.deepEqual(Object.keys(space.message()), ["id", "model", "layers", "tokens", "order", "planes", "group"]);
  assert.deepEqual(window.message().kind, { windowTokens: 8, stateTokens: 0, layers: [0, 2] });
  assert.equal(window.message().fingerprint, "w1");
});

test("a block arrives from slices of any cut, in any order", () => {
  for (const most of [4, 8, 16, 32]) {
    const blocks = new Map();
    slices(most).reverse().forEach((slice) => landSlice(space, hashes, slice, blocks));
    assert.deepEqual(blocks.get(0).whole(), block, `slices of ${most} bytes`);
  }
});

test("every changed bit of a slice is found, and nothing of it is used", () => {
  const [slice] = slices(16);
  for (let bit = 0; bit < 8 * slice.length; bit++) {
    const blocks = new Map();
    const damaged = Buffer.from(slice);
    damaged[bit >> 3] ^= 1 << (bit & 7);
    assert.throws(() => landSlice(space, hashes, damaged, blocks), CorruptError, `bit ${bit}`);
    assert.equal(blocks.size, 0);
  }
  assert.throws(() => landSlice(space, space.hashes([3, 4]), slice, new Map()), CorruptError);
});

test("a part that comes twice, or not at all, is no block", () => {
  const [first] = slices(16);
  const once = new Map();
  landSlice(space, hashes, first, once);
  assert.throws(() => once.get(0).whole(), CorruptError);
  landSlice(space, hashes, first, once);
  assert.throws(() => once.get(0).whole(), CorruptError);
});

test("an address is read as it is printed", () => {
  for (const [text, host, port] of [["node7:7733", "node7", 7733], ["[::1]:7733", "::1", 7733],
    ["[fe80::1%eth0]:1", "fe80::1%eth0", 1], ["tcp://unix:7733", "unix", 7733], ["unix:/run/a b:7", "/run/a b:7", null]]) {
    assert.deepEqual(penstock.place(text), { host, port });
  }
  for (const text of ["", "node7", "::1:7733", "node7:0", "node7:65536", "unix:", "ws://node7:7734/penstock"]) {
    assert.throws(() => penstock.place(text), /address must be/, text);
  }
});

test("an error has a sentence and values", () => {
  const error = new PenstockError(0x2005, 'node must not be draining\x1e{"store":-1010}');
  assert.deepEqual([error.sentence, error.values, error.transient], ["node must not be draining", { store: -1010 }, true]);
});

test("the types name what the module exports", () => {
  const types = readFileSync(new URL("./penstock.d.ts", import.meta.url), "utf8");
  const named = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map((found) => found[1]);
  assert.deepEqual(named.sort(), Object.keys(penstock).sort());
});
