package io.penstock.device;

import io.penstock.PermanentKvException;

/// The device, or the bridge to it, was closed: nothing of this work was done.
public final class DeviceClosedException extends PermanentKvException {
  private final String device;

  public DeviceClosedException(String device) {
    super("device " + device + " must be open (was closed)");
    this.device = device;
  }

  public String device() {
    return device;
  }
}
