package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One owner's handle on a complete, immutable block of KV cache.
///
/// The memory is freed when the last handle closes. A handle closes once, so a double close cannot free another owner's
/// block. Readers borrow the memory inside a callback, which pins it: a cancel on another thread cannot free the memory
/// meanwhile. A second owner takes [#share()]. All methods are safe from any thread and never wait.
public final class Block extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final int[] checksums;
  /// Checksums of the granule whose rows were shared last.
  @GuardedBy("this") private @Nullable RowChecksums rowChecksums;

  /// Takes over one hold on `slot`.
  Block(BlockKey key, BlockLayout layout, Slot slot, int[] checksums) {
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.checksums = checksums;
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

  /// CRC32C of a granule, as it was when the bytes were produced.
  public int checksum(int granule) {
    return checksums[granule];
  }

  /// Lends the whole block, read-only, to `reader`. The memory is valid until `reader` returns.
  ///
  /// @throws IllegalStateException if this handle was closed
  public <R> R read(Function<MemorySegment, R> reader) {
    hold();
    try {
      return reader.apply(slot.memory.asReadOnly());
    } finally {
      slot.release();
    }
  }

  boolean isIn(SlabPart.Run run) {
    return slot.run() == run;
  }

  /// A second handle, for a second owner.
  ///
  /// @throws IllegalStateException if this handle was closed
  public Block share() {
    hold(); // the new handle keeps this hold
    return new Block(key, layout, slot, checksums);
  }

  /// A share of a part of this block.
  ///
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public LayerSpan span(GranuleRange range) {
    range.requireInside(layout);
    hold();
    return new LayerSpan(key, layout, slot, checksums, range, range.isWhole() ? null : rowChecksums(range.first()));
  }

  private synchronized RowChecksums rowChecksums(int granule) {
    RowChecksums last = rowChecksums;
    if (last == null || !last.isOf(granule)) {
      last = new RowChecksums(granule);
      rowChecksums = last;
    }
    return last;
  }

  /// Reads every byte and compares every granule with its checksum.
  ///
  /// @param boundary where the bytes are checked, named in the error
  /// @throws BlockCorruptException at the first difference
  public Block verify(String boundary) {
    hold();
    try {
      slot.verify(key, layout, GranuleRange.all(layout), checksums, boundary);
    } finally {
      slot.release();
    }
    return this;
  }

  /// True if `other` is a handle on the same memory; an equal key is not enough.
  public boolean sharesMemoryWith(Block other) {
    return slot.equals(other.slot);
  }

  /// True while another handle, or a reader, holds the memory, too.
  public boolean isShared() {
    return slot.isShared();
  }

  /// Makes `payer`, which has a free slot, pay for the memory instead of the part that paid so far. The memory stays
  /// where it is.
  ///
  /// @throws IllegalStateException if this handle was closed
  void charge(SlabPart payer) {
    hold();
    try {
      slot.charge(payer).giveUp(1);
    } finally {
      slot.release();
    }
  }

  @Override
  protected void free() {
    slot.release();
  }

  private void hold() {
    if (isClosed() || !slot.retain()) {
      throw new IllegalStateException("block must be open (was closed, " + key + ")");
    }
    if (isClosed()) { // closed in between: the slot may have another owner by now
      slot.release();
      throw new IllegalStateException("block must be open (was closed, " + key + ")");
    }
  }

  @Override
  public String toString() {
    return "block " + key;
  }
}
