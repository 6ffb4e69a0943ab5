package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;

/// One owner's handle on memory of a device. Closing frees it behind the copies that the device has accepted so far; it
/// never waits.
public final class DeviceMemory extends Owned {
  private final long address;
  private final long bytes;
  private final Runnable release;

  /// @param release has the device free the memory; must not wait
  public DeviceMemory(long address, long bytes, Runnable release) {
    this.address = address;
    this.bytes = bytes;
    this.release = requireNonNull(release, "release");
  }

  /// Address of its first byte in the address space of the device.
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  @Override
  protected void free() {
    release.run();
  }

  @Override
  public String toString() {
    return "%d bytes of device memory at %#x".formatted(bytes, address);
  }
}
