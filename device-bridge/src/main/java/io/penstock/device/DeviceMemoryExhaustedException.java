package io.penstock.device;

import io.penstock.TransientKvException;
import org.jspecify.annotations.Nullable;

/// There is not as much memory on a device, or in one's part of it, as was asked for.
public final class DeviceMemoryExhaustedException extends TransientKvException {
  private final String device;
  private final long neededBytes;
  private final long freeBytes;

  public DeviceMemoryExhaustedException(String device, long neededBytes, long freeBytes) {
    this(device, neededBytes, freeBytes, null);
  }

  /// @param cause why the device has less than it reported
  public DeviceMemoryExhaustedException(String device, long neededBytes, long freeBytes, @Nullable Throwable cause) {
    super("device " + device + ": bytes needed must be <= " + freeBytes + " free (was " + neededBytes + ")", cause);
    this.device = device;
    this.neededBytes = neededBytes;
    this.freeBytes = freeBytes;
  }

  public String device() {
    return device;
  }

  public long neededBytes() {
    return neededBytes;
  }

  public long freeBytes() {
    return freeBytes;
  }
}
