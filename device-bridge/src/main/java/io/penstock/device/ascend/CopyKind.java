package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.MemoryPlace;

/// The way of one copy. The numbers are AscendCL's.
public enum CopyKind {
  HOST_TO_HOST(0),
  HOST_TO_DEVICE(1),
  DEVICE_TO_HOST(2),
  DEVICE_TO_DEVICE(3);

  private final int number;

  CopyKind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static CopyKind of(MemoryPlace from, MemoryPlace to) {
    if (from.isHost()) {
      return to.isHost() ? HOST_TO_HOST : HOST_TO_DEVICE;
    }
    return to.isHost() ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
  }

  /// Whether the batch call takes it.
  boolean isBatched() {
    return this == HOST_TO_DEVICE || this == DEVICE_TO_HOST;
  }
}
