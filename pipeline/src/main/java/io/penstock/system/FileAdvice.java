package io.penstock.system;

/// What the system is told about a range of a file.
public enum FileAdvice {
  /// No readahead.
  RANDOM(1),
  /// Begin to read the range into the page cache.
  WILL_NEED(3),
  /// Take the range out of the page cache, except pages that are not on the medium yet.
  DONT_NEED(4);

  private final int number;

  FileAdvice(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
