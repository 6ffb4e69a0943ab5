package io.penstock.storage.engine;

/// How the records of a segment end.
public enum ScanEnd {
  /// Behind the last record there is nothing.
  CLEAN,
  /// Behind the last record lies what a crash, or damage, left of others.
  TORN
}
