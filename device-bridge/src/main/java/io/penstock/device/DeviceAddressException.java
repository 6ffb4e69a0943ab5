package io.penstock.device;

import io.penstock.PermanentKvException;

/// An element of a batch names memory that is not, or not wholly, inside one allocation of the device. Nothing of the
/// batch was copied.
public final class DeviceAddressException extends PermanentKvException {
  private final String device;
  private final int failIndex;
  private final long address;
  private final long bytes;

  /// @param found what is there instead, for the message
  public DeviceAddressException(String device, int failIndex, long address, long bytes, String found) {
    super("element %d: %d bytes at %#x must lie inside one allocation of device %s (was %s)"
        .formatted(failIndex, bytes, address, device, found));
    this.device = device;
    this.failIndex = failIndex;
    this.address = address;
    this.bytes = bytes;
  }

  public String device() {
    return device;
  }

  /// Number of the element.
  public int failIndex() {
    return failIndex;
  }

  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }
}
