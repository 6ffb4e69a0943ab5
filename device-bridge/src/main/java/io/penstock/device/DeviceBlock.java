package io.penstock.device;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.Owned;
import java.util.Arrays;

/// One owner's handle on a complete block in the memory of a device.
///
/// Same rules as [io.penstock.block.Block]: closes once, from any thread, and the memory is free when the last handle
/// closes, copies under way included; a second owner takes [#share()]. Its bytes are read by the device, or by the host
/// after a download.
public final class DeviceBlock extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final DeviceSlot slot;
  private final int[] checksums;

  /// Takes over one hold on `slot`.
  DeviceBlock(BlockKey key, BlockLayout layout, DeviceSlot slot, int[] checksums) {
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

  /// Address of its first byte in the address space of the device; valid while this handle is open.
  public long address() {
    return slot.address;
  }

  /// CRC32C of a granule, as it was when the bytes were produced.
  public int checksum(int granule) {
    return checksums[granule];
  }

  /// A second handle, for a second owner.
  ///
  /// @throws IllegalStateException if this handle was closed
  public DeviceBlock share() {
    if (isClosed() || !slot.retain()) {
      throw closed();
    }
    if (isClosed()) { // closed in between: the slot may be another's by now
      slot.release();
      throw closed();
    }
    return new DeviceBlock(key, layout, slot, checksums);
  }

  boolean isOf(DeviceSlots slots) {
    return slot.isOf(slots);
  }

  int[] checksums(GranuleRange range) {
    return Arrays.copyOfRange(checksums, range.first(), range.end());
  }

  @Override
  protected void free() {
    slot.release();
  }

  private IllegalStateException closed() {
    return new IllegalStateException("device block must be open (was closed, " + key + ")");
  }

  @Override
  public String toString() {
    return "device block " + key;
  }
}
