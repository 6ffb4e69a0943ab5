package io.penstock.wire.segment;

import io.penstock.carrier.SharedMemorySender;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Slices of segments that one connection sends as references: to where their bytes lie, if the peer can map that, else
/// to a copy in a staging slot. Small slices, and those for which no slot is free, go in frames. Safe from any thread.
public final class SharedSlices {
  /// Maximum number of slices that a receiver has requested and not landed, so that a sender learns from its credit
  /// which have landed.
  static final int MOST_UNLANDED = 16;
  /// Slices below this, and below the largest, cost less in a frame.
  private static final int LEAST_BYTES = 16 << 10;

  private final SharedMemorySender sender;
  private final StagingSlots staging;

  private SharedSlices(SharedMemorySender sender, StagingSlots staging) {
    this.sender = sender;
    this.staging = staging;
  }

  /// @param sender null if bytes go in frames; then there is none
  public static @Nullable SharedSlices of(@Nullable SharedMemorySender sender, StagingSlots staging) {
    return sender == null ? null : new SharedSlices(sender, staging);
  }

  /// A slice whose bytes lie in memory that the peer can map.
  ///
  /// @param bytes stay as they are until the slice is released
  /// @param slot that has them; null for memory of the caller
  record SharedSlice(MemorySegment bytes, byte[] reference, @Nullable MemorySegment slot, StagingSlots staging) {
    /// @param landed whether the receiver is known to read it no more
    void release(boolean landed) {
      if (slot != null) {
        staging.giveBack(slot, landed);
      }
    }
  }

  /// Null if the bytes of `parts` go in a frame.
  @Nullable SharedSlice offer(List<MemorySegment> parts, int bytes) {
    if (bytes < Math.min(LEAST_BYTES, staging.slotBytes()) || bytes > staging.slotBytes()) {
      return null;
    }
    MemorySegment first = parts.getFirst();
    byte[] where = parts.size() == 1 ? sender.reference(first) : null;
    return where == null ? staged(parts, bytes) : new SharedSlice(first, where, null, staging);
  }

  private @Nullable SharedSlice staged(List<MemorySegment> parts, int bytes) {
    MemorySegment slot = staging.take();
    if (slot == null) {
      return null;
    }
    SharedSlice staged = null;
    try {
      staged = staged(parts, slot, slot.asSlice(0, bytes));
      return staged;
    } finally { // the caller may have freed its memory
      if (staged == null) {
        staging.giveBack(slot, true);
      }
    }
  }

  private @Nullable SharedSlice staged(List<MemorySegment> parts, MemorySegment slot, MemorySegment copy) {
    byte[] where = sender.reference(copy);
    if (where == null) {
      return null;
    }
    long at = 0;
    for (MemorySegment part : parts) {
      MemorySegment.copy(part, 0, copy, at, part.byteSize());
      at += part.byteSize();
    }
    return new SharedSlice(copy, where, slot, staging);
  }
}
