package io.penstock.block;

import io.penstock.check.Checksum;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One owner's handle on a contiguous part of one block, whose bytes are final. A slice carries one span of each of its
/// blocks.
///
/// The rules of [Block] hold: a span closes once, from any thread; the memory lives as long as a handle on it.
public final class LayerSpan extends Owned {
  /// Verified rows of a granule whose other rows are still to come.
  ///
  /// @param rows inside one granule
  /// @param crc CRC32C of their bytes
  record VerifiedRows(GranuleRange rows, int crc) {}

  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final int[] checksums;
  private final GranuleRange range;
  /// The verified rows that contain the span, while the checksum of their granule is not known yet; null afterwards.
  private final @Nullable VerifiedRows verified;
  /// Shared with the spans of other rows of the granule; null for none.
  private final @Nullable RowChecksums rowChecksums;

  /// Takes over one hold on `slot`.
  ///
  /// @param rowChecksums of the granule whose rows the span has; null for none
  LayerSpan(BlockKey key, BlockLayout layout, Slot slot, int[] checksums, GranuleRange range,
      @Nullable RowChecksums rowChecksums) {
    this(key, layout, slot, checksums, range, null, rowChecksums);
  }

  /// Takes over one hold on `slot`.
  LayerSpan(BlockKey key, BlockLayout layout, Slot slot, int[] checksums, GranuleRange range,
      @Nullable VerifiedRows verified, @Nullable RowChecksums rowChecksums) {
    this.rowChecksums = rowChecksums;
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.checksums = checksums;
    this.range = range;
    this.verified = verified;
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Number of its slot in the arena.
  public int slot() {
    return slot.number();
  }

  /// The part of the block.
  public GranuleRange range() {
    return range;
  }

  /// Bytes of the range.
  public int bytes() {
    return range.bytes(layout);
  }

  /// The bytes, read-only, valid while this handle is open. For an owner that alone decides when to close the handle,
  /// such as a frame that waits for its socket. Other callers use [#read].
  ///
  /// @throws IllegalStateException if this handle was closed
  public MemorySegment memory() {
    if (isClosed()) {
      throw closed();
    }
    return slot.memory.asSlice(range.offset(layout), bytes()).asReadOnly();
  }

  /// The bytes as a direct buffer for a socket, under the same rule as [#memory()]; read-only by agreement.
  public ByteBuffer buffer() {
    return slot.buffer(range.offset(layout), bytes());
  }

  /// Lends the bytes to `reader` until it returns.
  ///
  /// @throws IllegalStateException if this handle was closed
  public <R> R read(Function<MemorySegment, R> reader) {
    hold();
    try {
      return reader.apply(slot.memory.asSlice(range.offset(layout), bytes()).asReadOnly());
    } finally {
      slot.release();
    }
  }

  /// Copies the bytes to `to`, from its byte `offset` on.
  ///
  /// @throws IllegalStateException if this handle was closed
  public void copyTo(MemorySegment to, long offset) {
    hold();
    try {
      MemorySegment.copy(slot.memory, range.offset(layout), to, offset, bytes());
    } finally {
      slot.release();
    }
  }

  /// A second handle on these bytes, for a second owner.
  public LayerSpan share() {
    return share(range);
  }

  /// A second handle on these bytes under another key: a reader knows a block that is being computed by the name of its
  /// request, before its content has a name.
  public LayerSpan share(BlockKey name) {
    hold(); // the new handle keeps this hold
    return new LayerSpan(name, layout, slot, checksums, range, verified, rowChecksums);
  }

  /// A handle on a part of these bytes, for a second owner.
  ///
  /// @throws IllegalArgumentException if `part` has bytes that this span lacks
  public LayerSpan share(GranuleRange part) {
    part.requireInside(layout);
    if (!range.contains(part)) {
      throw new IllegalArgumentException("part must lie inside " + range + " (was " + part + ")");
    }
    hold(); // the new handle keeps this hold
    return new LayerSpan(key, layout, slot, checksums, part, verified, null);
  }

  /// Checksums of this span, one a granule. A span of rows answers the CRC of exactly these rows. One pass over the
  /// granule computes it, together with the CRCs of rows of other spans of the block, and compares the granule with the
  /// checksum that it was produced with.
  ///
  /// @throws BlockCorruptException if the granule of a span of rows differs from its checksum
  /// @throws IllegalStateException if the bytes are needed and this handle was closed
  public int[] checksums(String boundary) {
    if (range.isWhole()) {
      return Arrays.copyOfRange(checksums, range.first(), range.end());
    }
    hold();
    try {
      return new int[] {checksumOfRows(boundary)};
    } finally {
      slot.release();
    }
  }

  /// Writes [#checksums] to `to`.
  ///
  /// @throws BlockCorruptException if the granule of a span of rows differs from its checksum
  public void checksums(String boundary, IntBuffer to) {
    if (range.isWhole()) {
      to.put(checksums, range.first(), range.count());
    } else {
      to.put(checksums(boundary));
    }
  }

  /// Whether the granules that this span is of are verified; false for rows whose granule has others that are not.
  public boolean isOfVerifiedGranules() {
    return verified == null;
  }

  /// Checksums of the granules that this span is of, as they were produced, for a reader that gets all rows of each and
  /// compares. Computes nothing.
  ///
  /// @throws IllegalStateException if other rows of the granule are not verified yet
  public int[] granuleChecksums() {
    if (verified != null) {
      throw new IllegalStateException("granules must be verified (was " + range + " of " + key + ")");
    }
    return Arrays.copyOfRange(checksums, range.first(), range.end());
  }

  /// Compares every byte with the checksums.
  ///
  /// @throws BlockCorruptException at the first difference
  /// @throws IllegalStateException if this handle was closed
  public void verify(String boundary) {
    hold();
    try {
      if (range.isWhole()) {
        slot.verify(key, layout, range, checksums, boundary);
      } else {
        computedChecksumOfRows(boundary);
      }
    } finally {
      slot.release();
    }
  }

  private int checksumOfRows(String boundary) {
    int granule = range.first();
    OptionalInt known = rowChecksums == null
        ? OptionalInt.empty()
        : rowChecksums.of(range, layout, slot, whole -> requireEqual(boundary, granule, checksums[granule], whole));
    return known.isPresent() ? known.getAsInt() : computedChecksumOfRows(boundary);
  }

  private int computedChecksumOfRows(String boundary) {
    int granule = range.first();
    int rowBytes = layout.rowBytes(granule);
    VerifiedRows rows = verified;
    GranuleRange vouched = rows == null ? GranuleRange.whole(granule, 1) : rows.rows();
    int start = vouched.offset(layout);
    int end = start + vouched.bytes(layout);
    int from = range.offset(layout);
    int to = from + bytes();
    int before = slot.checksum(start, from - start);
    int own = slot.checksum(from, to - from);
    int after = slot.checksum(to, end - to);
    int whole = Checksum.combine(Checksum.combine(before, own, (long) range.rows() * rowBytes), after, end - to);
    requireEqual(boundary, granule, rows == null ? checksums[granule] : rows.crc(), whole);
    return own;
  }

  @Override
  protected void free() {
    slot.release();
  }

  private void hold() {
    if (isClosed() || !slot.retain()) {
      throw closed();
    }
    if (isClosed()) { // closed in between: the slot may have another owner by now
      slot.release();
      throw closed();
    }
  }

  private void requireEqual(String boundary, int granule, int expected, int actual) {
    if (actual != expected) {
      throw new BlockCorruptException(boundary, key, granule, expected, actual);
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException("span must be open (was closed, " + key + ")");
  }

  @Override
  public String toString() {
    return "span " + range + " of " + key;
  }
}
