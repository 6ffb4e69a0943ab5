package io.penstock.carrier;

import io.penstock.block.BlockLayout;
import io.penstock.system.SharedRegion;

/// Where things stand in the two regions of a read ring, counted from the beginning of the region, in the byte order of
/// the host:
///
/// | region | offset | bytes | field |
/// |---|---|---|---|
/// | both | 4,096 | 4 | entries that were posted so far; the other side sleeps on it |
/// | both | 4,160 | 4 | 1 while the owner of the region sleeps |
/// | requests | 4,224 | 128 × 32 | entries: operation, 4; slot, 4; hash of the key, 16; in the first get of a |
/// |   |   |   | request how many more gets belong to it, else 0, 4; 0, 4 |
/// | answers | 4,224 | 64 × 4 | entries: slot |
/// | answers | 4,480 | 64 × answer | of each slot: lease, 4; status, 4; descriptor, 4; 0, 4; token of the region, 16; |
/// |   |   |   | offset of the block in it, 8; CRC32C of each granule, 4 each; to a multiple of 64 |
///
/// The lease is not 0 and does not change while the block stays where it is.
final class RingLayout {
  /// Blocks that one ring may lease at a time.
  static final int SLOTS = 64;
  /// A slot has at most a release and a get that the node has not read.
  static final int REQUESTS = 2 * SLOTS;
  static final int POSTED = SharedRegion.HEADER_BYTES;
  static final int ASLEEP = POSTED + 64;
  static final int ENTRIES = ASLEEP + 64;
  static final int REQUEST_BYTES = 32;

  static final int GET = 1;
  static final int RELEASE = 2;
  /// A release of a block that differs from its checksums.
  static final int DAMAGED = 3;
  /// Of a request.
  static final int OPERATION = 0;
  static final int SLOT = 4;
  static final int HASH = 8;
  static final int MORE = 24;

  static final int FOUND = 1;
  /// The node has no such block, or not where a client can read it: the client asks over the connection.
  static final int ASK = 2;
  /// Of an answer.
  static final int LEASE = 0;
  static final int STATUS = 4;
  static final int DESCRIPTOR = 8;
  static final int TOKEN = 16;
  static final int OFFSET = 32;
  static final int CHECKSUMS = 40;

  private static final int LINE = 64;
  private static final int ANSWERS = ENTRIES + Integer.BYTES * SLOTS;

  private RingLayout() {}

  /// Bytes of the region of requests behind its header.
  static long requestsBytes() {
    return ENTRIES + (long) REQUESTS * REQUEST_BYTES - SharedRegion.HEADER_BYTES;
  }

  /// Bytes of the region of answers behind its header.
  static long answersBytes(BlockLayout layout) {
    return answer(SLOTS, layout) - SharedRegion.HEADER_BYTES;
  }

  static long request(int number) {
    return ENTRIES + (long) Math.floorMod(number, REQUESTS) * REQUEST_BYTES;
  }

  static long answered(int number) {
    return ENTRIES + (long) Math.floorMod(number, SLOTS) * Integer.BYTES;
  }

  static long answer(int slot, BlockLayout layout) {
    int bytes = CHECKSUMS + Integer.BYTES * layout.granules();
    return ANSWERS + (long) slot * Math.ceilDiv(bytes, LINE) * LINE;
  }
}
