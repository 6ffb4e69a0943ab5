package io.penstock.device.system;

import java.io.IOException;

/// The system refused a call.
public final class SystemCallException extends IOException {
  private final int errno;

  SystemCallException(String call, long refusal) {
    super(Errno.text(call, refusal));
    this.errno = (int) -refusal;
  }

  public int errno() {
    return errno;
  }
}
