package io.penstock.system;

/// What the system is told about pages of memory.
public enum MemoryAdvice {
  /// Take the pages out of the mapping. Pages of a file lose nothing; the next touch maps them again.
  DONT_NEED(4),
  /// Use large pages where possible.
  LARGE_PAGES(14),
  /// Make all pages now, as a write would. Linux 5.14 or newer.
  POPULATE_WRITE(23);

  private final int number;

  MemoryAdvice(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
