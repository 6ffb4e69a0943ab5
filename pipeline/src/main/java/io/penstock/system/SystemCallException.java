package io.penstock.system;

import java.io.IOException;

/// The system refused a call, or does not have it.
public final class SystemCallException extends IOException {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EINVAL = 22;
  public static final int EMFILE = 24;
  public static final int ENOSPC = 28;
  public static final int ENOSYS = 38;

  private final int errno;

  /// @param call name of the function, with the size, the address or the path that it was called for
  /// @param errno error number that the system answered
  public SystemCallException(String call, int errno) {
    super(call + " was refused: " + CLibrary.absence().orElseGet(() -> text(errno)));
    this.errno = errno;
  }

  /// One of the constants here, or another error number of Linux. They are equal on all machines that Java runs on.
  public int errno() {
    return errno;
  }

  /// Name and meaning of an error number.
  private static String text(int number) {
    return switch (number) {
      case EPERM -> "EPERM, not permitted";
      case ENOENT -> "ENOENT, not there";
      case EAGAIN -> "EAGAIN, held by another, or more than may be locked";
      case ENOMEM -> "ENOMEM, no memory or a limit of the process";
      case EACCES -> "EACCES, not allowed";
      case EFAULT -> "EFAULT, no pages for it";
      case EINVAL -> "EINVAL, unknown to this system";
      case EMFILE -> "EMFILE, too many open files";
      case ENOSPC -> "ENOSPC, the medium is full";
      case ENOSYS -> "ENOSYS, unknown to this system";
      default -> "error " + number;
    };
  }
}
