package io.penstock.system;

import java.io.IOException;

/// The system refused a call, or does not have it.
public final class SystemCallException extends IOException {
  private final int errno;

  /// @param call name of the function, with the size, the address or the path that it was called for
  /// @param errno error number that the system answered
  public SystemCallException(String call, int errno) {
    super(call + " was refused: " + CLibrary.absence().orElseGet(() -> Errno.text(errno)));
    this.errno = errno;
  }

  /// One of [Errno], or another number of the system.
  public int errno() {
    return errno;
  }
}
