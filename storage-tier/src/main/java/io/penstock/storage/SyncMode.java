package io.penstock.storage;

/// When what was appended is forced to the medium.
public enum SyncMode {
  /// When the system likes: a failure of the machine may take anything that it had not written.
  NONE,
  /// Soon, on a thread of its own: a failure of the machine takes the newest at most.
  INTERVAL,
  /// With each batch, before its put completes.
  ALWAYS
}
