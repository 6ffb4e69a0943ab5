package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// The keys of one space that can be read, each with up to [#MOST_PLACES] places where its bytes are. Answers which
/// prefix of a request is there, without a lock, beside one writer.
///
/// A key costs 20 to 25 bytes. The keys are spread over small segments by the low bits of their hash. A full segment is
/// copied, or split in two, so no change copies more than a few thousand keys. The hash depends on a secret of the
/// process ([BlockHash#hashCode]), so a client cannot choose keys that meet.
///
/// This is extendible hashing (Fagin, Nievergelt, Pippenger and Strong, ACM Transactions on Database Systems 4, 1979).
/// It departs from the paper in three ways. A bucket is an open-addressed table, and a full one is copied if many of
/// its keys are gone. Segments are never joined and the directory never halves, so memory falls only as segments are
/// copied, and with [#clear]. Readers take no lock.
///
/// **What a reader is told**, for each key by itself: the places of the key at some moment between the beginning and
/// the end of the call. So a key that was there before the call and did not leave during it is found, and a key that
/// had left before the call and did not come back is not found. The keys of one call may be answered for different
/// moments.
///
/// **Why this holds.** A reader loads the directory, a segment and a slot, in this order, each with acquire; the
/// writer publishes each with release after it is complete. If a reader has a directory or a segment that was
/// replaced meanwhile, the writer changes it no more: it holds the state of the moment of the replacement, and that
/// moment is within the call. The writer replaces all references to a segment before it makes the next change.
///
/// - Threads: reads from any thread, at any time; changes one at a time, by an owner that guards them.
public final class PrefixIndex {
  /// Maximum number of places of a key.
  public static final int MOST_PLACES = 7;

  /// Maximum number of keys of a segment that is not split, so a copy takes some 100 µs.
  private static final int SEGMENT_KEYS = 4096;
  private static final int MOST_DEPTH = 24;
  /// Keys of a request that are looked up together.
  private static final int STEP = 64;
  private static final int REFERENCE_BYTES = 4;

  private final SpaceId space;
  private final int hashBits;
  private final int segmentKeys;
  private volatile AtomicReferenceArray<PrefixSegment> directory;
  // Used by the writer alone
  private int keys;
  private long segmentBytes;

  public PrefixIndex(SpaceId space) {
    this(space, -1, SEGMENT_KEYS);
  }

  /// @param hashBits −1, or fewer bits for tests that want keys to meet
  /// @param segmentKeys most keys of a segment that is not split
  PrefixIndex(SpaceId space, int hashBits, int segmentKeys) {
    this.space = space;
    this.hashBits = hashBits;
    this.segmentKeys = segmentKeys;
    this.directory = empty();
  }

  private AtomicReferenceArray<PrefixSegment> empty() {
    PrefixSegment only = new PrefixSegment(0, 0, hashBits);
    keys = 0;
    segmentBytes = only.bytes();
    AtomicReferenceArray<PrefixSegment> first = new AtomicReferenceArray<>(1);
    first.set(0, only);
    return first;
  }

  // Any thread

  /// The places of `key`, a bit each; 0 if the index lacks the key.
  ///
  /// @throws IllegalArgumentException if `key` is of another space
  public int places(BlockKey key) {
    BlockHash hash = key.requireOf(space).hash();
    int bits = hash(hash);
    PrefixSegment segment = segment(directory, bits);
    int start = segment.start(bits);
    return segment.places(start, start, hash);
  }

  /// Number of keys at the start of `keys` that are in one of `wanted` places.
  public int prefix(List<BlockKey> keys, int wanted) {
    return prefixPlaces(keys, wanted).length;
  }

  /// The places of the keys at the start of `keys` that are in one of `wanted` places; of these places alone.
  public byte[] prefixPlaces(List<BlockKey> keys, int wanted) {
    byte[] places = new byte[keys.size()];
    int found = 0;
    for (int from = 0; found == from && from < places.length; from += STEP) {
      look(keys, from, wanted, places);
      while (found < Math.min(places.length, from + STEP) && places[found] != 0) {
        found++;
      }
    }
    return Arrays.copyOf(places, found);
  }

  /// Positions in `keys` of the keys that are in one of `wanted` places.
  public BitSet present(List<BlockKey> keys, int wanted) {
    byte[] places = new byte[keys.size()];
    BitSet present = new BitSet(places.length);
    for (int from = 0; from < places.length; from += STEP) {
      look(keys, from, wanted, places);
    }
    for (int i = 0; i < places.length; i++) {
      present.set(i, places[i] != 0);
    }
    return present;
  }

  /// Looks up the next keys from `from` on. Each loop is a row of loads that do not depend on each other, so the
  /// machine waits for many of them at a time; one key after the other would wait for memory each time.
  private void look(List<BlockKey> keys, int from, int wanted, byte[] places) {
    int count = Math.min(keys.size() - from, STEP);
    int[] hashes = new int[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = hash(keys.get(from + i).requireOf(space).hash());
    }
    PrefixSegment[] segments = new PrefixSegment[count];
    AtomicReferenceArray<PrefixSegment> now = directory;
    for (int i = 0; i < count; i++) {
      segments[i] = segment(now, hashes[i]);
    }
    int[] starts = new int[count];
    for (int i = 0; i < count; i++) {
      starts[i] = segments[i].start(hashes[i]);
    }
    for (int i = 0; i < count; i++) { // the least code a load, so that most loads are under way at a time
      places[from + i] = segments[i].touch(starts[i]);
    }
    for (int i = 0; i < count; i++) {
      places[from + i] += segments[i].touchBehind(starts[i]);
    }
    int[] likely = new int[count];
    for (int i = 0; i < count; i++) {
      likely[i] = segments[i].likely(starts[i], keys.get(from + i).hash());
    }
    for (int i = 0; i < count; i++) {
      places[from + i] = (byte) (segments[i].places(starts[i], likely[i], keys.get(from + i).hash()) & wanted);
    }
  }

  private static PrefixSegment segment(AtomicReferenceArray<PrefixSegment> directory, int hash) {
    return directory.get(hash & (directory.length() - 1));
  }

  private int hash(BlockHash hash) {
    return hash.hashCode() & hashBits;
  }

  // The writer

  /// Sets the places of `key`.
  ///
  /// @param places a bit each, of the lowest [#MOST_PLACES] bits; 0 removes the key
  public void set(BlockKey key, int places) {
    if (places < 0 || places >>> MOST_PLACES != 0) {
      throw new IllegalArgumentException("places must be of " + MOST_PLACES + " bits (was " + places + ")");
    }
    BlockHash hash = key.requireOf(space).hash();
    int bits = hash(hash);
    PrefixSegment segment = segment(directory, bits);
    keys -= segment.keys();
    if (!segment.update(bits, hash, places) && places != 0) {
      keys += segment.keys();
      segment = roomy(segment, bits);
      keys -= segment.keys();
      segment.add(bits, hash, places);
    }
    keys += segment.keys();
  }

  /// The segment of `bits`, with room for one key more.
  private PrefixSegment roomy(PrefixSegment segment, int bits) {
    if (!segment.isFull()) {
      return segment;
    }
    int upper = segment.keys() < segmentKeys || segment.depth == MOST_DEPTH ? 0 : segment.upperKeys();
    if (upper == 0 || upper == segment.keys()) {
      PrefixSegment copy = segment.copy(segment.depth, segment.keys(), hash -> true);
      replace(segment, bits, copy, copy);
      segmentBytes += copy.bytes() - segment.bytes();
    } else {
      split(segment, bits, upper);
    }
    return roomy(segment(directory, bits), bits);
  }

  private void split(PrefixSegment segment, int bits, int upper) {
    int depth = segment.depth;
    PrefixSegment low = segment.copy(depth + 1, segment.keys() - upper, hash -> (hash >>> depth & 1) == 0);
    PrefixSegment high = segment.copy(depth + 1, upper, hash -> (hash >>> depth & 1) == 1);
    if (directory.length() == 1 << depth) {
      directory = doubled(directory);
    }
    replace(segment, bits, low, high);
    segmentBytes += low.bytes() + high.bytes() - segment.bytes();
  }

  private static AtomicReferenceArray<PrefixSegment> doubled(AtomicReferenceArray<PrefixSegment> from) {
    int half = from.length();
    AtomicReferenceArray<PrefixSegment> to = new AtomicReferenceArray<>(2 * half);
    for (int i = 0; i < 2 * half; i++) {
      to.setPlain(i, from.get(i & (half - 1)));
    }
    return to;
  }

  /// Puts `low` and `high` in the place of `segment`, by the bit in which they differ.
  private void replace(PrefixSegment segment, int bits, PrefixSegment low, PrefixSegment high) {
    AtomicReferenceArray<PrefixSegment> now = directory;
    int depth = segment.depth;
    for (int i = bits & ((1 << depth) - 1); i < now.length(); i += 1 << depth) {
      now.setRelease(i, (i >>> depth & 1) == 0 ? low : high);
    }
  }

  /// Removes all keys.
  public void clear() {
    directory = empty();
  }

  /// Keys that have a place.
  public int size() {
    return keys;
  }

  /// Bytes of the table, without the headers of its objects.
  public long bytes() {
    return segmentBytes + (long) REFERENCE_BYTES * directory.length();
  }
}
