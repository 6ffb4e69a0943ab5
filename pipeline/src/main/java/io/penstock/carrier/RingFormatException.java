package io.penstock.carrier;

/// A region of a read ring has another format than this process reads: its other side runs another version.
final class RingFormatException extends PeerMemoryException {
  private final String field;
  private final long wanted;
  private final long actual;

  RingFormatException(String field, long wanted, long actual) {
    super(field + " must be " + wanted + " (was " + actual + ")", null);
    this.field = field;
    this.wanted = wanted;
    this.actual = actual;
  }

  /// The field that differs.
  String field() {
    return field;
  }

  /// The value that this version requires.
  long wanted() {
    return wanted;
  }

  /// The value in the region.
  long actual() {
    return actual;
  }
}
