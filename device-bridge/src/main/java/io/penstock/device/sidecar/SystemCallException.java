package io.penstock.device.sidecar;

import java.io.IOException;

/// The system refused a call.
final class SystemCallException extends IOException {
  private final int errno;

  SystemCallException(String call, int errno) {
    super(call + ": errno " + errno);
    this.errno = errno;
  }

  int errno() {
    return errno;
  }
}
