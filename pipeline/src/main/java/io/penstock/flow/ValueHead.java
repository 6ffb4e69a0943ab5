package io.penstock.flow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/// Content of the head of a value, and the place of its bytes: whole parts first, the rest in the head. Layout of the
/// head's block, little-endian except the version: magic, format, length, version, bytes of the name, the name, and
/// from a multiple of 64 on the last bytes of the value.
record ValueHead(CacheSpace space, String name, long length, BlockHash version, int nameBytes) {
  /// Room for the longest name, and as much for bytes.
  static final int LEAST_PART_BYTES = 4096;
  private static final int MOST_NAME_BYTES = 2048;
  /// The keys of all parts must fit in one array.
  private static final int MOST_PARTS = Integer.MAX_VALUE / BlockHash.BYTES;
  private static final int MAGIC = 0x31564B50; // "PKV1"
  private static final int FORMAT = 1;
  private static final int FIXED_BYTES = 36;
  private static final int ALIGNMENT = 64;

  /// @param version of the value, which no other value of this name has
  static ValueHead of(CacheSpace space, String name, long length, BlockHash version) {
    int nameBytes = utf8(name).length;
    if (nameBytes == 0 || nameBytes > MOST_NAME_BYTES) {
      throw new IllegalArgumentException(
          "name must have 1 to " + MOST_NAME_BYTES + " bytes of UTF-8 (was " + nameBytes + ")");
    }
    ValueHead head = new ValueHead(space, name, length, version, nameBytes);
    if (length > mostLength(space)) {
      throw new IllegalArgumentException("length must be at most 2^27 - 1 parts (was " + length + ")");
    }
    return head;
  }

  private static long mostLength(CacheSpace space) {
    return (long) space.layout().blockBytes() * MOST_PARTS;
  }

  /// The length with `parts` full parts and a full head, or the most that a value may have; 0 if `parts` is
  /// negative.
  static long longest(CacheSpace space, String name, long parts) {
    ValueHead head = of(space, name, 0, BlockHash.ROOT);
    int tail = head.partBytes() - head.tailOffset();
    if (parts < 0) {
      return 0; // not even a head
    }
    return parts < MOST_PARTS ? parts * head.partBytes() + tail : mostLength(space);
  }

  /// The head in `memory`, if it is one.
  static Optional<ValueHead> read(CacheSpace space, MemorySegment memory) {
    ByteBuffer from = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    if (from.getInt() != MAGIC || from.getInt() != FORMAT) {
      return Optional.empty();
    }
    long length = from.getLong();
    BlockHash version = BlockHash.read(from);
    int nameBytes = from.getInt();
    if (length < 0 || length > mostLength(space) || nameBytes <= 0 || nameBytes > MOST_NAME_BYTES) {
      return Optional.empty();
    }
    byte[] name = new byte[nameBytes];
    from.get(name);
    return Optional.of(new ValueHead(space, new String(name, StandardCharsets.UTF_8), length, version, nameBytes));
  }

  /// Writes all but the bytes of the value, whose place it leaves as it is.
  void write(MemorySegment memory) {
    memory.asSlice(FIXED_BYTES + nameBytes, tailOffset() - FIXED_BYTES - nameBytes).fill((byte) 0);
    memory.asSlice(tailOffset() + tailBytes()).fill((byte) 0);
    ByteBuffer to = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(MAGIC).putInt(FORMAT).putLong(length);
    version.write(to);
    to.putInt(nameBytes).put(utf8(name));
  }

  static void requireSpace(CacheSpace space) {
    BlockLayout layout = space.layout();
    if (layout.blockBytes() < LEAST_PART_BYTES || layout.layers() > 1 || layout.planes().size() > 1) {
      throw new IllegalArgumentException("space must be one of values (was " + space.model() + " " + layout + ")");
    }
  }

  static BlockKey key(CacheSpace space, String name) {
    return space.key(PrefixHasher.ofName(name));
  }

  BlockKey key() {
    return key(space, name);
  }

  BlockKey partKey(int index) {
    return space.key(PrefixHasher.ofPart(PrefixHasher.ofName(name), version, index));
  }

  /// The keys of all parts, 16 bytes each.
  List<BlockKey> partKeys() {
    return partKeys(0, parts());
  }

  /// The keys of `count` parts from `first` on, 16 bytes each.
  List<BlockKey> partKeys(int first, int count) {
    BlockHash ofName = PrefixHasher.ofName(name);
    ByteBuffer hashes = ByteBuffer.allocate(Math.multiplyExact(count, BlockHash.BYTES));
    for (int i = first; i < first + count; i++) {
      PrefixHasher.ofPart(ofName, version, i).write(hashes);
    }
    return BlockKey.list(space.id(), hashes.flip());
  }

  int partBytes() {
    return space.layout().blockBytes();
  }

  /// Offset of the value's last bytes in the block of the head.
  int tailOffset() {
    return Math.ceilDiv(FIXED_BYTES + nameBytes, ALIGNMENT) * ALIGNMENT;
  }

  /// Number of parts without the head.
  int parts() {
    long beyond = Math.max(0, length - (partBytes() - tailOffset()));
    return (int) Math.ceilDiv(beyond, partBytes());
  }

  /// Bytes of the value in part `index`.
  int bytesOfPart(int index) {
    return (int) Math.min(partBytes(), length - (long) index * partBytes());
  }

  /// Bytes of the value in the head.
  int tailBytes() {
    return (int) Math.max(0, length - (long) parts() * partBytes());
  }

  private static byte[] utf8(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  /// Copies as much of `from` as `to` has room for.
  ///
  /// @return how many bytes
  static long copy(MemorySegment from, MemorySegment to, long at) {
    long bytes = Math.min(from.byteSize(), to.byteSize() - at);
    MemorySegment.copy(from, JAVA_BYTE, 0, to, JAVA_BYTE, at, bytes);
    return bytes;
  }
}
