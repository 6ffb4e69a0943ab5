package io.penstock.block;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writable memory of a block that no reader can see yet: claim, write granule by granule, then seal or abandon.
///
/// A writer fills memory with [#write]. Then [#produced] computes the checksums at the source, or [#verify] compares
/// the bytes with checksums that came along. Verified bytes are final. Parts may come in any order. [#seal()] succeeds
/// when every granule is verified, and [#close()] abandons the draft; either ends it. Writes pin the memory, so a close
/// on another thread never frees it under a writer. Verifying and sealing are safe from any thread.
public final class BlockDraft extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final VerifiedGranules verified;

  /// Takes over the first hold on `slot`.
  BlockDraft(BlockKey key, BlockLayout layout, Slot slot) {
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.verified = new VerifiedGranules(layout);
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Lets `writer` fill the bytes of `range`. The memory is valid until `writer` returns.
  ///
  /// @throws IllegalStateException if any byte of `range` is verified, and so final, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void write(GranuleRange range, Consumer<MemorySegment> writer) {
    range.requireInside(layout);
    requireUnverified(range);
    pin();
    try {
      writer.accept(slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
    } finally {
      slot.release();
    }
  }

  /// A hold on the memory of `range`, for a writer that goes on after this returns. The caller closes the hold before
  /// the bytes are verified.
  ///
  /// @throws IllegalStateException if any byte of `range` is verified, and so final, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public Span writing(GranuleRange range) {
    range.requireInside(layout);
    requireUnverified(range);
    pin(); // the span keeps this hold
    return new Span(slot, slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
  }

  /// Computes the checksums of `range`, whose bytes were produced here. A second call changes nothing.
  ///
  /// @throws IllegalStateException if some but not all rows of `range` were verified before, or if the draft was sealed
  ///     or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void produced(GranuleRange range) {
    pin();
    try {
      add(range, checksums(range));
    } finally {
      slot.release();
    }
  }

  /// Compares the bytes of `range`, which came from elsewhere, with their checksums, one a granule.
  ///
  /// @param boundary where the bytes crossed, named in the error: `wire`, `tier host`
  /// @throws BlockCorruptException at the first difference; nothing of `range` is verified then
  /// @throws IllegalArgumentException if there are more or fewer checksums than granules
  /// @throws IllegalStateException if some but not all rows of `range` were verified before, or if the draft was sealed
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
      add(range, actual);
    } finally {
      slot.release();
    }
  }

  /// The parts of `range` that are not verified yet: runs of whole granules, or the rows of `range`.
  ///
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public synchronized List<GranuleRange> unverified(GranuleRange range) {
    range.requireInside(layout);
    return verified.missing(range);
  }

  /// True when every granule is verified.
  public synchronized boolean isComplete() {
    return verified.missing() == 0;
  }

  /// @throws IncompleteBlockException if a granule is not verified
  public synchronized void requireComplete() {
    if (verified.missing() > 0) {
      throw new IncompleteBlockException(key, verified.firstMissing(), verified.missing());
    }
  }

  /// A read-only share of `range`, whose granules are all verified, for a reader that cannot wait for the whole block.
  /// Rows that were verified as one run may be shared before the other rows of their granule are verified.
  ///
  /// @throws IllegalStateException if a granule, or just these rows, are not verified, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public LayerSpan span(GranuleRange range) {
    range.requireInside(layout);
    VerifiedRows rows = requireVerified(range);
    pin(); // the span keeps this hold
    return new LayerSpan(key, layout, slot, verified.checksums(), range, rows);
  }

  /// Makes the draft a block, and ends the draft.
  ///
  /// @throws IncompleteBlockException if a granule is not verified; the draft stays open
  /// @throws IllegalStateException if the draft was sealed or closed
  public Block seal() {
    requireComplete();
    if (!markClosed()) {
      throw new IllegalStateException("draft must be open to be sealed (was closed, " + key + ")");
    }
    return new Block(key, layout, slot, verified.checksums());
  }

  @Override
  protected void free() {
    slot.release();
  }

  private void pin() {
    if (isClosed() || !slot.retain()) {
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
    if (isClosed()) { // closed in between: the slot may have another owner by now
      slot.release();
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
  }

  private synchronized void requireUnverified(GranuleRange range) {
    if (verified.touch(range)) {
      throw new IllegalStateException(
          "granules must not be written after they were verified (was " + range + " of " + key + ")");
    }
  }

  /// The verified rows that equal `range`; null if its granules are verified.
  private synchronized @Nullable VerifiedRows requireVerified(GranuleRange range) {
    if (verified.cover(range)) {
      return null;
    }
    Integer crc = verified.crcOfRows(range);
    if (crc == null) {
      throw new IllegalStateException(
          "granules must be verified before they are shared (was " + range + " of " + key + ")");
    }
    return new VerifiedRows(range, crc);
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

  private synchronized void add(GranuleRange range, int[] sums) {
    verified.add(range, sums);
  }

  @Override
  public String toString() {
    return "draft " + key;
  }

  /// One owner's hold on writable memory of a draft, for a writer that goes on after its call returned, such as the
  /// engine of a device.
  ///
  /// If the draft is closed meanwhile, the writer keeps the memory: the slot goes back with the last hold. The owner
  /// closes the span before the bytes are verified, because verified bytes are final. Safe from any thread.
  public static final class Span extends Owned {
    private final Slot slot;
    private final MemorySegment memory;

    /// Takes over one hold on `slot`.
    Span(Slot slot, MemorySegment memory) {
      this.slot = slot;
      this.memory = memory;
    }

    /// The bytes to be written, valid while this handle is open.
    ///
    /// @throws IllegalStateException if this handle was closed
    public MemorySegment memory() {
      if (isClosed()) {
        throw new IllegalStateException("span of a draft must be open (was closed)");
      }
      return memory;
    }

    @Override
    protected void free() {
      slot.release();
    }
  }
}
