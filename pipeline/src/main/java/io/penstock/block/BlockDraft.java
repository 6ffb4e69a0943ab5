package io.penstock.block;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writable memory of a block that nobody can see yet: claim, write granule by granule, then seal or abandon.
///
/// A writer fills memory with [#write] and then states what it wrote: [#produced] computes checksums at the source,
/// [#verify] compares with checksums that came along. [#seal()] succeeds when every granule was stated. Parts may come
/// in any order. [#close()] abandons the draft; both end it. Writes pin the memory, so closing from another thread
/// never frees it under a writer. Stating and sealing are safe from any thread.
public final class BlockDraft extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final Statements statements;

  /// Takes over the first hold on `slot`.
  BlockDraft(BlockKey key, BlockLayout layout, Slot slot) {
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.statements = new Statements(layout);
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Lets `writer` fill the bytes of `range`; the memory stays valid until it returns, and no longer.
  ///
  /// @throws IllegalStateException if any byte of `range` was stated before, for those are final, or if the draft was
  ///     sealed or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void write(GranuleRange range, Consumer<MemorySegment> writer) {
    range.requireInside(layout);
    requireUnstated(range);
    pin();
    try {
      writer.accept(slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
    } finally {
      slot.release();
    }
  }

  /// A hold on the memory of `range`, for a writer that goes on after this returns. Whoever takes it closes it, before
  /// the bytes are stated.
  ///
  /// @throws IllegalStateException if any byte of `range` was stated before, for those are final, or if the draft was
  ///     sealed or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public DraftSpan writing(GranuleRange range) {
    range.requireInside(layout);
    requireUnstated(range);
    pin(); // the span keeps this hold
    return new DraftSpan(slot, slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
  }

  /// States that the bytes of `range` were produced here, and computes their checksums. Stating them again changes
  /// nothing.
  ///
  /// @throws IllegalStateException if some but not all rows of `range` were stated before, or if the draft was sealed
  ///     or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void produced(GranuleRange range) {
    pin();
    try {
      state(range, checksums(range));
    } finally {
      slot.release();
    }
  }

  /// States that the bytes of `range` came from elsewhere with these checksums, one a granule, and compares every one
  /// of them.
  ///
  /// @param boundary where the bytes crossed, named in the error: `wire`, `tier host`
  /// @throws BlockCorruptException at the first difference; nothing of `range` is stated then
  /// @throws IllegalArgumentException if there are more or fewer checksums than granules
  /// @throws IllegalStateException if some but not all rows of `range` were stated before, or if the draft was sealed
  ///     or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void verify(GranuleRange range, int[] expected, String boundary) {
    if (expected.length != range.count()) {
      throw new IllegalArgumentException(
          "checksums must be " + range.count() + ", one a granule (was " + expected.length + ")");
    }
    pin();
    try {
      int[] actual = checksums(range);
      int differs = Arrays.mismatch(expected, actual);
      if (differs >= 0) {
        throw new BlockCorruptException(boundary, key, range.first() + differs, expected[differs], actual[differs]);
      }
      state(range, actual);
    } finally {
      slot.release();
    }
  }

  /// The parts of `range` that were not stated yet: runs of whole granules, or its rows as they are. What comes twice
  /// is not in them.
  ///
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public synchronized List<GranuleRange> unstated(GranuleRange range) {
    range.requireInside(layout);
    return statements.rest(range);
  }

  /// True when every granule was stated.
  public synchronized boolean isComplete() {
    return statements.missing() == 0;
  }

  /// @throws IncompleteBlockException if a granule was never stated
  public synchronized void requireComplete() {
    if (statements.missing() > 0) {
      throw new IncompleteBlockException(key, statements.firstMissing(), statements.missing());
    }
  }

  /// A read-only share of `range`, whose granules were all stated, for a reader that must not wait for the whole block.
  /// Rows that were stated as they are may be shared before the rest of their granule is there.
  ///
  /// @throws IllegalStateException if a granule, or just these rows, were not stated, or if the draft was sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public LayerSpan span(GranuleRange range) {
    range.requireInside(layout);
    StatedRows rows = requireStated(range);
    pin(); // the span keeps this hold
    return new LayerSpan(key, layout, slot, statements.checksums(), range, rows);
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
    return new Block(key, layout, slot, statements.checksums());
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

  private synchronized void requireUnstated(GranuleRange range) {
    if (statements.touch(range)) {
      throw new IllegalStateException(
          "granules must not be written after they were stated (was " + range + " of " + key + ")");
    }
  }

  /// What vouches for `range`: its granules (null), or the statement of just these rows.
  private synchronized @Nullable StatedRows requireStated(GranuleRange range) {
    if (statements.cover(range)) {
      return null;
    }
    Integer crc = statements.crcOfRows(range);
    if (crc == null) {
      throw new IllegalStateException(
          "granules must be stated before they are shared (was " + range + " of " + key + ")");
    }
    return new StatedRows(range, crc);
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
    statements.state(range, sums);
  }

  @Override
  public String toString() {
    return "draft " + key;
  }
}
