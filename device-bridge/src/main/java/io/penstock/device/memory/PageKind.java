package io.penstock.device.memory;

/// A source and page size of host memory. The largest pages come first: they need the fewest entries of translation
/// caches.
public enum PageKind {
  /// Pages of the driver, on the NUMA node of the device.
  NODE_1G("pages of 1 GiB on the node of the device", 1L << 30),
  /// Pages of the driver, on any node.
  HOST_1G("pages of 1 GiB that the device reaches", 1L << 30),
  HOST_2M("pages of 2 MiB that the device reaches", 2L << 20),
  /// Memory of the driver, with pages that it chooses.
  HOST("memory that the device reaches", 1),
  /// Pages of the system, set aside by its administrator.
  PAGES_1G("pages of 1 GiB", 1L << 30),
  PAGES_2M("pages of 2 MiB", 2L << 20),
  /// Begins at a multiple of 2 MiB, and the system was asked to make large pages of it as it likes.
  ADVISED_2M("pages of 2 MiB as the system likes", 2L << 20),
  /// Pages in a region that other processes can map.
  SHARED("pages that processes of this host can read", 1),
  /// Smallest pages of the system.
  PLAIN("plain pages", 1),
  /// Memory of the JDK, where the system's calls are not known.
  JDK("memory of the JDK", 1);

  private final String label;
  private final long unitBytes;

  PageKind(String label, long unitBytes) {
    this.label = label;
    this.unitBytes = unitBytes;
  }

  /// Plain words, for errors and logs.
  public String label() {
    return label;
  }

  /// Allocations are multiples of this many bytes; 1 for any size.
  public long unitBytes() {
    return unitBytes;
  }

  /// `bytes` up to the next multiple of [#unitBytes()].
  ///
  /// @throws ArithmeticException if that is more than a `long` holds
  public long rounded(long bytes) {
    return Math.multiplyExact(Math.ceilDiv(bytes, unitBytes), unitBytes);
  }

  /// Whether rounding would add more than an eighth: 10 MiB never takes a page of 1 GiB.
  public boolean isWasteful(long bytes) {
    return rounded(bytes) - bytes > bytes / 8;
  }
}
