/** CRC-32C (Castagnoli) of bytes, unsigned. */
export function crc32c(data: Uint8Array): number;

/** A failure that the node reports. */
export class PenstockError extends Error {
  /** Number in PROTOCOL.md, section 6, for instance 0x1004; below 0x1000 one of RSocket's own. */
  readonly code: number;
  /** For people: "thing must be rule (was value)". */
  readonly sentence: string;
  /** For programs: `field`, `wanted`, `actual`, `store` and others by code. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether the request may succeed unchanged later. */
  readonly transient: boolean;
}

/** A slice that breaks its rules, or bytes that differ from their checksum: nothing of it was used. */
export class CorruptError extends Error {}

export interface Plane {
  kind: "KEY" | "VALUE" | "LATENT" | "ROPE" | "INDEXER" | "SCALES" | "STATE" | "CONVOLUTION";
  type: "BF16" | "FP16" | "FP32" | "FP8_E4M3" | "FP8_E5M2" | "INT8";
  heads: number;
  width: number;
}

export interface GroupKind {
  /** Last tokens at which a token looks; 0 for all. */
  windowTokens: number;
  /** Tokens from one state to the next, with blocks of one token; 0 for no states. */
  stateTokens: number;
  /** Numbers of the layers in the model; may be empty. */
  layers: number[];
}

export interface SpaceFields {
  model: string;
  layers: number;
  /** Tokens of a block. */
  tokens: number;
  planes: Plane[];
  order?: "NHD" | "HND";
  group?: number;
  /** Of a KV group that is not one of full attention in layers without numbers. */
  kind?: GroupKind;
  /** Names weights and engine. */
  fingerprint?: string;
  /** Secret of a tenant; it never travels. */
  salt?: string;
  /** 16 bytes, for a space whose salt is not known; computed if absent. */
  id?: Uint8Array;
}

/** What equal hashes mean: a model and the layout of its blocks. */
export class Space {
  constructor(fields: SpaceFields);
  readonly id: Uint8Array;
  readonly model: string;
  readonly layers: number;
  readonly tokens: number;
  readonly planes: Plane[];
  readonly kind?: GroupKind;
  /** Empty for none. */
  readonly fingerprint: string;
  readonly blockBytes: number;
  /** Number of granules of a block. */
  readonly granules: number;
  /** Hashes of the blocks that a prompt fills; `extra` are other names that distinguish prefixes. */
  hashes(tokens: ArrayLike<number> & { slice(from: number, to: number): ArrayLike<number> }, extra?: string[]): Buffer[];
  granule(number: number): { offset: number; size: number; rowBytes: number };
  /** Pieces of a block that fit a slice of `most` bytes. */
  cuts(most: number): Cut[];
}

export interface Cut {
  granule: number;
  count: number;
  row: number;
  rows: number;
  start: number;
  end: number;
}

/** A slice with a piece of `block`. */
export function encodeSlice(space: Space, hashes: Uint8Array[], window: number, remaining: number, position: number,
  cut: Cut, block: Uint8Array): Buffer;

/** Verifies a slice and copies its bytes to `blocks`, by position. */
export function landSlice(space: Space, hashes: Uint8Array[], frame: Buffer,
  blocks: Map<number, { whole(): Buffer }>): void;

/** What the node answers to `hello`. Integers above 2^53, such as the capacity of an unbounded tier, lose digits. */
export interface Welcome {
  version: number;
  server: string;
  node: string;
  tier: string;
  space: { id: string; model: string; layers: number; tokens: number; order: string; planes: Plane[]; group: number };
  maxSliceBytes: number;
  windowBlocks: number;
  maxKeys: number;
  capacityBlocks?: number | null;
  generation?: number | null;
}

/** What became of one block of a put. */
export type Outcome =
  | { position: number; tier: string; durability: "VOLATILE" | "WRITTEN" | "FORCED"; sequence: number }
  | { present: true }
  | { code: number }
  | { [none in never]: never };

export interface ConnectOptions {
  /** Refused with 0x1004 if it is not one of the node; absent: the node's own. */
  space?: Space;
  user?: string;
  password?: string;
  /** Instead of a user and a password. */
  token?: string;
  /** True, or options of `tls.connect`. */
  tls?: boolean | import("node:tls").ConnectionOptions;
  /** Longest silence of the node in a request, in milliseconds. */
  timeout?: number;
}

/** Host and port of an address; the path and null for a Unix domain socket. */
export function place(address: string): { host: string; port: number | null };

/** A connection to a node, for blocks of one space. Requests may run side by side. */
export class Node {
  private constructor();
  /** A node at an address as Penstock prints it: HOST:PORT, IPv6 in brackets, or unix:PATH. */
  static at(address: string, options?: ConnectOptions): Promise<Node>;
  /** Without a port, the host is the path of a Unix domain socket. */
  static connect(host: string, port: number | null, options?: ConnectOptions): Promise<Node>;
  readonly welcome: Welcome;
  readonly space: Space;
  /** How many of the first blocks the node has, without a gap. */
  match(hashes: Uint8Array[]): Promise<number>;
  /** The blocks in the order of `hashes`, every byte verified; null for each that the node does not have. */
  get(hashes: Uint8Array[]): Promise<(Buffer | null)[]>;
  /** Stores blocks: a receipt each, `present` if the node has it, a code if it failed, or nothing if another writes it. */
  put(hashes: Uint8Array[], blocks: Uint8Array[]): Promise<Outcome[]>;
  close(): void;
}
