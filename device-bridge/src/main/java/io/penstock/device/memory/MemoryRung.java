package io.penstock.device.memory;

/// One rung of a ladder: a way to get memory, and the pages it has. Ladders begin with the largest pages, which cost
/// the fewest entries of translation caches.
public enum MemoryRung {
  /// Of the driver, on the NUMA node of the device.
  NODE_1G("pages of 1 GiB on the node of the device", 1L << 30),
  /// Of the driver, anywhere.
  HOST_1G("pages of 1 GiB that the device reaches", 1L << 30),
  HOST_2M("pages of 2 MiB that the device reaches", 2L << 20),
  /// Of the driver, whatever pages it likes.
  HOST("memory that the device reaches", 1),
  /// Of the system, set aside by its administrator.
  PAGES_1G("pages of 1 GiB", 1L << 30),
  PAGES_2M("pages of 2 MiB", 2L << 20),
  /// Begins at a multiple of 2 MiB, and the system was asked to make large pages of it as it likes.
  ADVISED_2M("pages of 2 MiB as the system likes", 2L << 20),
  /// Of the system, its smallest pages.
  PLAIN("plain pages", 1),
  /// What the JDK allocates, where the system's calls are not known.
  JDK("memory of the JDK", 1);

  private final String label;
  private final long unitBytes;

  MemoryRung(String label, long unitBytes) {
    this.label = label;
    this.unitBytes = unitBytes;
  }

  /// In plain words, for errors and logs.
  public String label() {
    return label;
  }

  /// What it gives is a multiple of so many bytes; 1 if it gives what is asked for.
  public long unitBytes() {
    return unitBytes;
  }

  /// Whether the system gives it, and no driver.
  public boolean isOfSystem() {
    return ordinal() >= PAGES_1G.ordinal();
  }

  /// `bytes` up to the next multiple of [#unitBytes()].
  ///
  /// @throws ArithmeticException if that is more than a `long` holds
  public long rounded(long bytes) {
    return Math.multiplyExact(Math.ceilDiv(bytes, unitBytes), unitBytes);
  }

  /// Whether rounding would add more than an eighth: nobody asks for 10 MiB to get 1 GiB.
  public boolean isWasteful(long bytes) {
    return rounded(bytes) - bytes > bytes / 8;
  }
}
