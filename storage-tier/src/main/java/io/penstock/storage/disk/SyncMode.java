package io.penstock.storage.disk;

/// Time at which appended bytes are forced to the medium.
public enum SyncMode {
  /// Never: a failure of the machine may lose all bytes that the system had not written.
  NONE,
  /// Soon, on a thread of its own: a failure of the machine takes only the newest bytes.
  INTERVAL,
  /// With each batch, before its put completes.
  ALWAYS
}
