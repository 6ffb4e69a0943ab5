package io.penstock.device;

import java.util.concurrent.atomic.AtomicInteger;

/// One slot of device memory and the count of handles and copies on it; at zero it goes back.
final class DeviceSlot {
  final long address;
  private final DeviceSlots slots;
  private final int index;
  private final AtomicInteger holds = new AtomicInteger();

  DeviceSlot(DeviceSlots slots, int index, long address) {
    this.slots = slots;
    this.index = index;
    this.address = address;
  }

  @SuppressWarnings("ReferenceEquality") // the very one
  boolean isOf(DeviceSlots home) {
    return slots == home;
  }

  /// The first hold.
  void lend() {
    holds.setRelease(1);
  }

  /// Adds a hold unless the slot was already given back.
  boolean retain() {
    int count;
    do {
      count = holds.get();
      if (count == 0) {
        return false;
      }
    } while (!holds.compareAndSet(count, count + 1));
    return true;
  }

  void release() {
    if (holds.decrementAndGet() == 0) {
      slots.takeBack(index);
    }
  }
}
