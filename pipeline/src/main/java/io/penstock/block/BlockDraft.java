package io.penstock.block;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writable memory of a block that nobody can see yet: claim, write granule by granule, then seal or abandon.
///
/// A writer fills memory with [#write] and then states what it wrote: [#produced] computes checksums at the source, [#verify]
/// compares with checksums that came along. [#seal()] succeeds when every granule was stated. Parts may come in any order.
/// [#close()] abandons the draft; both end it. Writes pin the memory, so closing from another thread never frees it under a writer.
/// Stating and sealing are safe from any thread.
public final class BlockDraft extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final int[] checksums;
  private final BitSet stated;
  /// Granules of which only some rows were stated: first row → (rows, CRC).
  private @Nullable Map<Integer, TreeMap<Integer, Rows>> partial;

  private record Rows(int count, int crc) {}

  BlockDraft(BlockKey key, BlockLayout layout, Slot slot) {
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.checksums = new int[layout.granules()];
    this.stated = new BitSet(layout.granules());
    slot.lend();
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Lets `writer` fill the bytes of `range`; the memory stays valid until it returns, and no longer.
  ///
  /// @throws IllegalStateException if the draft was sealed or closed
  public void write(GranuleRange range, Consumer<MemorySegment> writer) {
    pin();
    try {
      writer.accept(slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
    } finally {
      slot.release();
    }
  }

  /// States that the bytes of `range` were produced here, and computes their checksums.
  public void produced(GranuleRange range) {
    pin();
    try {
      state(range, checksums(range));
    } finally {
      slot.release();
    }
  }

  /// States that the bytes of `range` came from elsewhere with these checksums, one a granule, and compares every one of them.
  ///
  /// @param boundary where the bytes crossed, named in the error: `wire`, `tier host`
  /// @throws BlockCorruptException at the first difference; nothing of `range` is stated then
  public void verify(GranuleRange range, int[] expected, String boundary) {
    pin();
    try {
      int[] actual = checksums(range);
      int differs = Arrays.mismatch(expected, actual);
      if (differs >= 0) {
        throw new BlockCorruptException(boundary, key, range.first() + differs, at(expected, differs), at(actual, differs));
      }
      state(range, actual);
    } finally {
      slot.release();
    }
  }

  /// True when every granule was stated.
  public synchronized boolean isComplete() {
    return stated.cardinality() == layout.granules();
  }

  /// @throws IncompleteBlockException if a granule was never stated
  public synchronized void requireComplete() {
    int missing = stated.nextClearBit(0);
    if (missing < layout.granules()) {
      throw new IncompleteBlockException(key, missing, layout.granules() - stated.cardinality());
    }
  }

  /// A read-only share of `range`, whose granules were all stated, for a reader that must not wait for the whole block.
  public LayerSpan span(GranuleRange range) {
    synchronized (this) {
      if (stated.nextClearBit(range.first()) < range.end()) {
        throw new IllegalStateException("granules must be stated before they are shared (was " + range + " of " + key + ")");
      }
    }
    pin(); // the span keeps this hold
    return new LayerSpan(key, layout, slot, checksums, range);
  }

  /// Publishes the bytes as a block; the draft is over.
  ///
  /// @throws IncompleteBlockException if a granule was never stated; the draft stays open
  /// @throws IllegalStateException if the draft was sealed or closed
  public Block seal() {
    requireComplete();
    if (!markClosed()) {
      throw new IllegalStateException("draft must be open to be sealed (was closed, " + key + ")");
    }
    return new Block(key, layout, slot, checksums);
  }

  @Override
  protected void free() {
    slot.release();
  }

  private void pin() {
    if (isClosed() || !slot.retain()) {
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
    if (isClosed()) { // closed in between: the slot may be another's by now
      slot.release();
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
  }

  private int[] checksums(GranuleRange range) {
    range.requireInside(layout);
    if (!range.isWhole()) {
      return new int[] {slot.checksum(range.offset(layout), range.bytes(layout))};
    }
    int[] sums = new int[range.count()];
    int offset = range.offset(layout);
    for (int i = 0; i < sums.length; i++) {
      int bytes = layout.granuleBytes(range.first() + i);
      sums[i] = slot.checksum(offset, bytes);
      offset += bytes;
    }
    return sums;
  }

  private synchronized void state(GranuleRange range, int[] sums) {
    if (range.isWhole()) {
      System.arraycopy(sums, 0, checksums, range.first(), sums.length);
      stated.set(range.first(), range.end());
    } else if (!stated.get(range.first())) {
      stateRows(range, sums[0]);
    }
  }

  private void stateRows(GranuleRange range, int crc) {
    if (partial == null) {
      partial = new TreeMap<>();
    }
    TreeMap<Integer, Rows> parts = partial.computeIfAbsent(range.first(), granule -> new TreeMap<>());
    parts.put(range.firstRow(), new Rows(range.rows(), crc));
    int row = 0;
    int sum = 0;
    for (Map.Entry<Integer, Rows> part : parts.entrySet()) {
      if (part.getKey() != row) {
        return;
      }
      Rows rows = part.getValue();
      sum = Checksum.combine(sum, rows.crc(), (long) rows.count() * layout.rowBytes(range.first()));
      row += rows.count();
    }
    if (row == layout.rows(range.first())) {
      checksums[range.first()] = sum;
      stated.set(range.first());
      partial.remove(range.first());
    }
  }

  private static int at(int[] sums, int index) {
    return index < sums.length ? sums[index] : 0;
  }

  @Override
  public String toString() {
    return "draft " + key;
  }
}
