package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// There is no such record or segment.
public final class UnknownLocationException extends PermanentKvException {
  private final int segment;

  UnknownLocationException(String engine, int segment) {
    super("segment must be one of engine " + engine + " (was " + segment + ")");
    this.segment = segment;
  }

  UnknownLocationException(String engine, Location location, long end) {
    super("record must end at <= " + end + " of segment " + location.segment() + " of engine " + engine
        + " (was offset " + location.offset() + ", length " + location.length() + ")");
    this.segment = location.segment();
  }

  public int segment() {
    return segment;
  }
}
