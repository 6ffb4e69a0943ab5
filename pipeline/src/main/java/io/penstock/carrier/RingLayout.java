package io.penstock.carrier;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.block.BlockLayout;
import io.penstock.system.SharedRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// The format of the two regions of a read ring, which two processes share: each writes its own region and reads the
/// other one. Offsets count from the beginning of the region; numbers are in the byte order of the host.
///
/// | region | offset | bytes | field | written | read |
/// |---|---|---|---|---|---|
/// | both | 4,096 | 8 | the bytes `PKSRING1` | before its place is sent | once, by [#requireFormat] |
/// | both | 4,104 | 4 | version of this format | before its place is sent | once, by [#requireFormat] |
/// | both | 4,160 | 4 | posted: entries posted so far; the other side sleeps on it | volatile | volatile |
/// | both | 4,224 | 4 | 1 while the owner of the region sleeps | volatile | volatile |
/// | requests | 4,288 | 128 × 32 | entries: operation, 4; slot, 4; key hash, 16; in the first get | plain | plain |
/// |   |   |   | how many more gets belong to it, else 0, 4; 0, 4 |   |   |
/// | answers | 4,288 | 64 × 4 | entries: slot | plain | plain |
/// | answers | 4,544 | 64 × answer | per slot: lease, 4 | plain; end opaque, fence | acquire, after a load fence |
/// |   |   |   | status, 4; descriptor, 4; 0, 4; token of region, 16; offset of the block in it, 8; | plain | plain |
/// |   |   |   | CRC32C of each granule, 4 each; to a multiple of 64 |   |   |
///
/// The memory order makes plain fields safe:
///
/// - *Posted* publishes. A side writes entries, and the answers that they name, plainly, and then posted. The other
///   side reads posted first, and entries below it only, so it sees all that was written before.
/// - *Posted* also returns. An entry is written again only when the other side has answered the one that stood there,
///   or released the lease of its slot: the writer has read the other's posted after that.
/// - *Posted* and *sleeps* are volatile, not only release and acquire: a poster writes posted and then reads sleeps, a
///   waiter writes sleeps and then reads posted, and one of them must see the other's write (Dekker). Else both would
///   wait.
/// - *Lease* is published by posted. Its end is not: it may come while the client reads the block. The node writes 0
///   and passes a full fence before the block can get other bytes. The client reads the bytes, passes a load fence, and
///   then reads the lease: the bytes count only if the lease is unchanged. It is not 0, and does not change while the
///   block stays where it is.
/// - *Magic number and version* are written before the place of the region is sent over the connection, which orders
///   them.
final class RingLayout {
  /// Blocks that one ring may lease at a time.
  static final int SLOTS = 64;
  /// A slot has at most a release and a get that the node has not read.
  static final int REQUESTS = 2 * SLOTS;
  /// Accesses that are not plain.
  static final VarHandle WORD = JAVA_INT.varHandle();
  static final long MAGIC = 0x31474E49_52534B50L;
  static final int VERSION = 1;
  static final int MAGIC_OFFSET = SharedRegion.HEADER_BYTES;
  static final int VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
  static final int POSTED = SharedRegion.HEADER_BYTES + 64;
  static final int ASLEEP = POSTED + 64;
  static final int ENTRIES = ASLEEP + 64;
  static final int REQUEST_BYTES = 32;

  static final int GET = 1;
  static final int RELEASE = 2;
  /// A release of a block that differs from its checksums.
  static final int DAMAGED = 3;
  /// Fields of a request.
  static final int OPERATION = 0;
  static final int SLOT = 4;
  static final int HASH = 8;
  static final int MORE = 24;

  static final int FOUND = 1;
  /// The node has no such block, or not where a client can read it: the client asks over the connection.
  static final int ASK = 2;
  /// Fields of an answer.
  static final int LEASE = 0;
  static final int STATUS = 4;
  static final int DESCRIPTOR = 8;
  static final int TOKEN = 16;
  static final int OFFSET = 32;
  static final int CHECKSUMS = 40;

  private static final int LINE = 64;
  private static final int ANSWERS = ENTRIES + Integer.BYTES * SLOTS;

  private RingLayout() {}

  /// Writes the first fields of a region that the caller has made, before any other process can map it.
  static void writeFormat(MemorySegment region) {
    region.set(JAVA_LONG, MAGIC_OFFSET, MAGIC);
    region.set(JAVA_INT, VERSION_OFFSET, VERSION);
  }

  /// @throws RingFormatException unless `region`, of another process, begins as this version of the format does
  static void requireFormat(SharedRegion.Kind kind, MemorySegment region) {
    long magic = region.get(JAVA_LONG, MAGIC_OFFSET);
    if (magic != MAGIC) {
      throw new RingFormatException("magic number of the region of " + kind, MAGIC, magic);
    }
    int version = region.get(JAVA_INT, VERSION_OFFSET);
    if (version != VERSION) {
      throw new RingFormatException("version of the region of " + kind, VERSION, version);
    }
  }

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
