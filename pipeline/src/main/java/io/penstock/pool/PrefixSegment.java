package io.penstock.pool;

import io.penstock.block.BlockHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.IntPredicate;

/// A part of a [PrefixIndex]: an open-addressed table of hashes, each with a byte for its places. A slot is 17 bytes:
/// places, then the hash.
///
/// One writer; readers take no lock. The hash of a slot is written once, before the places are set with release; a
/// reader gets the places with acquire, so it sees a whole hash. A hash that left keeps its slot, which is marked as
/// gone, until the writer copies the segment. So a reader that meets an empty slot knows that the hash was not there
/// when it looked: a hash is always before the first empty slot of its search.
final class PrefixSegment {
  private static final VarHandle PLACES = MethodHandles.arrayElementVarHandle(byte[].class);
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final int SLOT_BYTES = 1 + BlockHash.BYTES;
  private static final int LINE_BYTES = 64;
  private static final int HIGH = 1;
  private static final int LOW = 9;
  private static final byte GONE = (byte) 0x80;
  private static final int MASK = 0x7F;
  private static final int NONE = -1;

  /// A copy has room for this part of its keys again, so it is 70 % full; at 85 % it is copied.
  private static final double COPY_FULL = 0.70;
  private static final double MOST_FULL = 0.85;
  private static final int LEAST_SLOTS = 8;

  /// Number of low bits that all hashes of this segment share.
  final int depth;
  private final int hashBits;
  private final int slots;
  private final byte[] table;
  /// Keys, and slots of keys that are gone. Of the writer alone.
  private int used;
  private int keys;

  /// @param keys for how many keys there is room, at least
  /// @param hashBits mask of the bits of a hash that count
  PrefixSegment(int depth, int keys, int hashBits) {
    this.depth = depth;
    this.hashBits = hashBits;
    this.slots = Math.max(LEAST_SLOTS, (int) Math.ceil(keys / COPY_FULL));
    this.table = new byte[slots * SLOT_BYTES];
  }

  // Any thread

  /// First slot of the search for a key of `hash`. The high bits of a hash choose its first slot; its low bits chose
  /// the segment.
  int start(int hash) {
    return (int) (((hash & 0xFFFF_FFFFL) * slots) >>> 32) * SLOT_BYTES;
  }

  /// Loads the cache line of `start`, for the reads that follow.
  byte touch(int start) {
    return table[start];
  }

  /// Loads the cache line behind that of `start`.
  byte touchBehind(int start) {
    return table[Math.min(start + LINE_BYTES, table.length - 1)];
  }

  /// Where `key`, whose search begins at `start`, most likely is. Loads both cache lines of the first four slots,
  /// without branches that depend on them: so the machine waits for the slots of many keys at a time. A guess, not
  /// ordered with other loads.
  int likely(int start, BlockHash key) {
    if (start > table.length - 4 * SLOT_BYTES) {
      return start;
    }
    int equal = lowIs(key, start) | lowIs(key, start + SLOT_BYTES) << 1 | lowIs(key, start + 2 * SLOT_BYTES) << 2
        | lowIs(key, start + 3 * SLOT_BYTES) << 3;
    return start + SLOT_BYTES * (Integer.numberOfTrailingZeros(equal | 1 << 4) & 3);
  }

  private int lowIs(BlockHash key, int at) {
    return (long) WORD.get(table, at + LOW) == key.low() ? 1 : 0;
  }

  /// The places of `key`, whose search begins at `start`; 0 if the segment lacks it.
  ///
  /// @param likely the slot to look at first
  int places(int start, int likely, BlockHash key) {
    int at = placesAt(likely) != 0 && isKey(likely, key) ? likely : find(start, key);
    return at == NONE ? 0 : placesAt(at) & MASK;
  }

  private int find(int start, BlockHash key) {
    int at = start;
    while (placesAt(at) != 0) {
      if (isKey(at, key)) {
        return at;
      }
      at = next(at);
    }
    return NONE;
  }

  private boolean isKey(int at, BlockHash key) {
    return (long) WORD.get(table, at + LOW) == key.low() && (long) WORD.get(table, at + HIGH) == key.high();
  }

  private byte placesAt(int at) {
    return (byte) PLACES.getAcquire(table, at);
  }

  private int next(int at) {
    int next = at + SLOT_BYTES;
    return next == table.length ? 0 : next;
  }

  // The writer

  int keys() {
    return keys;
  }

  int bytes() {
    return table.length;
  }

  /// Whether the segment has to be copied before a key is added.
  boolean isFull() {
    return used + 1 > slots * MOST_FULL;
  }

  /// Sets the places of `key` if the segment has a slot for it.
  ///
  /// @param places 0 to remove the key
  /// @return whether it has
  boolean update(int hash, BlockHash key, int places) {
    int at = find(start(hash), key);
    if (at == NONE) {
      return false;
    }
    keys += Integer.signum(places) - Integer.signum(placesAt(at) & MASK);
    PLACES.setRelease(table, at, places == 0 ? GONE : (byte) places);
    return true;
  }

  /// Adds `key`, for which there is no slot yet.
  void add(int hash, BlockHash key, int places) {
    int at = start(hash);
    while (placesAt(at) != 0) {
      at = next(at);
    }
    WORD.set(table, at + HIGH, key.high());
    WORD.set(table, at + LOW, key.low());
    PLACES.setRelease(table, at, (byte) places);
    used++;
    keys++;
  }

  /// Number of keys that have the bit by which a split divides them.
  int upperKeys() {
    int upper = 0;
    for (int at = 0; at < table.length; at += SLOT_BYTES) {
      upper += (placesAt(at) & MASK) != 0 && (hashAt(at) >>> depth & 1) == 1 ? 1 : 0;
    }
    return upper;
  }

  /// The keys whose hash passes, in a segment that has room for one key more.
  PrefixSegment copy(int depth, int count, IntPredicate hashes) {
    PrefixSegment copy = new PrefixSegment(depth, count + 1, hashBits);
    for (int at = 0; at < table.length; at += SLOT_BYTES) {
      int places = placesAt(at) & MASK;
      if (places != 0 && hashes.test(hashAt(at))) {
        copy.add(hashAt(at), keyAt(at), places);
      }
    }
    return copy;
  }

  private int hashAt(int at) {
    return keyAt(at).hashCode() & hashBits;
  }

  private BlockHash keyAt(int at) {
    return new BlockHash((long) WORD.get(table, at + HIGH), (long) WORD.get(table, at + LOW));
  }
}
