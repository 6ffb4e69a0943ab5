package io.penstock.device.ascend.failure;

import io.penstock.PermanentKvException;

/// Shared memory was to be imported that the device has imported and not closed: the library closes a key, not an
/// address.
public final class AlreadyImportedException extends PermanentKvException {
  public AlreadyImportedException(String device) {
    super("device " + device + ": key must not be imported already (was)");
  }
}
