package io.penstock.device;

import io.penstock.system.HoldCount;

/// One slot of device memory and the count of handles and copies on it; at zero it goes back.
final class DeviceSlot {
  final long address;
  private final DeviceSlots slots;
  private final int index;
  private final HoldCount holds = new HoldCount();

  DeviceSlot(DeviceSlots slots, int index, long address) {
    this.slots = slots;
    this.index = index;
    this.address = address;
  }

  @SuppressWarnings("ReferenceEquality") // the very one
  boolean isOf(DeviceSlots owner) {
    return slots == owner;
  }

  /// The first hold.
  void lend() {
    holds.first();
  }

  /// Adds a hold unless the slot was already given back.
  boolean retain() {
    return holds.retain();
  }

  void release() {
    if (holds.release()) {
      slots.takeBack(index);
    }
  }
}
