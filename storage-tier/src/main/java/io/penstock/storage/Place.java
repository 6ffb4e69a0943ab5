package io.penstock.storage;

import io.penstock.storage.engine.Location;

/// Where a record lies, and what tells it from any other.
class Place {
  private final int segment;
  private final long offset;
  private final int length;
  private final long sequence;
  private final int headCrc;

  Place(Location at, long sequence, int headCrc) {
    this(at.segment(), at.offset(), at.length(), sequence, headCrc);
  }

  private Place(int segment, long offset, int length, long sequence, int headCrc) {
    this.segment = segment;
    this.offset = offset;
    this.length = length;
    this.sequence = sequence;
    this.headCrc = headCrc;
  }

  /// Of a record that is gone: its location cannot be asked for.
  static final class Gone extends Place {
    private final RuntimeException why;

    /// @param why thrown to whoever wants to read it
    Gone(RuntimeException why) {
      super(0, 0, 0, 0, 0);
      this.why = why;
    }

    @Override
    Location location() {
      throw why;
    }

    @Override
    public String toString() {
      return "no place: " + why.getMessage();
    }
  }

  /// 0 if it is gone.
  int segment() {
    return segment;
  }

  Location location() {
    return new Location(segment, offset, length);
  }

  long sequence() {
    return sequence;
  }

  /// CRC of the record's head; in it are the CRCs of all granules.
  int headCrc() {
    return headCrc;
  }

  @Override
  public String toString() {
    return location().toString();
  }
}
