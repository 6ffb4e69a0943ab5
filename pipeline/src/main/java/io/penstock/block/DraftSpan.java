package io.penstock.block;

import java.lang.foreign.MemorySegment;

/// One owner's hold on writable memory of a draft, for a writer that goes on after its call returned, such as the
/// engine of a device.
///
/// A draft that is closed meanwhile does not take the memory away from under such a writer: the slot goes back with the
/// last hold. Closed before the bytes are verified, for then they are final. Safe from any thread.
public final class DraftSpan extends Owned {
  private final Slot slot;
  private final MemorySegment memory;

  /// Takes over one hold on `slot`.
  DraftSpan(Slot slot, MemorySegment memory) {
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
