package io.penstock.device.memory;

/// Kinds of pages that host memory may have.
public enum MemoryPages {
  /// The largest there are.
  AUTO,
  /// Large ones that were set aside, or none.
  HUGE,
  /// The system's smallest.
  PLAIN,
  /// Those that other processes of this user on this host can read: large ones where the system makes them.
  SHARED
}
