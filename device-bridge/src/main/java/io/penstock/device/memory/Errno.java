package io.penstock.device.memory;

/// Error numbers of Linux, the same on all machines that Java runs on.
final class Errno {
  static final int EPERM = 1;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EFAULT = 14;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;

  private Errno() {}

  /// What a call that answered `result` < 0 was refused for, in plain words.
  static String text(String call, long result) {
    int number = (int) -result;
    return call + " answered " + switch (number) {
      case EPERM -> "EPERM, not permitted";
      case EAGAIN -> "EAGAIN, more than may be locked";
      case ENOMEM -> "ENOMEM, no memory or a limit of the process";
      case EFAULT -> "EFAULT, no pages for it";
      case EINVAL -> "EINVAL, unknown to this system";
      case ENOSYS -> "ENOSYS, unknown to this system";
      default -> "error " + number;
    };
  }
}
