package io.penstock.device.ascend.failure;

import io.penstock.PermanentKvException;

/// An import of shared memory was refused, because the device has imported it already and not closed it: the library
/// closes a key, not an address.
public final class AlreadyImportedException extends PermanentKvException {
  public AlreadyImportedException(String device) {
    super("device " + device + ": this key was already imported");
  }
}
