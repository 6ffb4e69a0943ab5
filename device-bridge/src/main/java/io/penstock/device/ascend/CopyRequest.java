package io.penstock.device.ascend;

import java.util.Arrays;

/// Copies between addresses that a device reaches, any number and any mix of ways, and, once they ended, what became of each.
///
/// Filled by one thread, then [AscendDevice#copy(CopyRequest)] has it until its `Mono` ended; after that its results may be read, and after
/// [#clear()] it may be used again, with the memory that it has grown to. The memory behind the addresses is the caller's, who keeps it
/// until then, whatever a cancel says.
public final class CopyRequest {
  /// The result of a copy that was made.
  public static final int COPIED = 0;
  /// The result of an element that nobody has looked at yet.
  public static final int OPEN = -1;

  private long[] from;
  private long[] to;
  private long[] bytes;
  private int[] results;
  private int elements;
  private long totalBytes;

  /// @param elements as many as it is likely to have
  public CopyRequest(int elements) {
    if (elements < 0) {
      throw new IllegalArgumentException("elements must be >= 0 (was " + elements + ")");
    }
    int room = Math.max(1, elements);
    this.from = new long[room];
    this.to = new long[room];
    this.bytes = new long[room];
    this.results = new int[room];
  }

  /// Adds the copy of `bytes` from one address to another; the two ranges must not overlap.
  public CopyRequest add(long from, long to, long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes of an element must be > 0 (was " + bytes + ")");
    }
    if (from > Long.MAX_VALUE - bytes || to > Long.MAX_VALUE - bytes || from <= 0 || to <= 0) {
      throw new IllegalArgumentException("addresses must be > 0 and end below 2^63 (was %#x and %#x, %d bytes)".formatted(from, to, bytes));
    }
    if (elements == this.from.length) {
      grow();
    }
    this.from[elements] = from;
    this.to[elements] = to;
    this.bytes[elements] = bytes;
    this.results[elements++] = OPEN;
    totalBytes += bytes;
    return this;
  }

  private void grow() {
    int room = Math.max(2 * elements, 16);
    from = Arrays.copyOf(from, room);
    to = Arrays.copyOf(to, room);
    bytes = Arrays.copyOf(bytes, room);
    results = Arrays.copyOf(results, room);
  }

  /// Makes it empty.
  public CopyRequest clear() {
    elements = 0;
    totalBytes = 0;
    return this;
  }

  /// Makes its elements ready to be copied once more.
  public CopyRequest again() {
    Arrays.fill(results, 0, elements, OPEN);
    return this;
  }

  public int elements() {
    return elements;
  }

  public long totalBytes() {
    return totalBytes;
  }

  public long from(int element) {
    return from[element];
  }

  public long to(int element) {
    return to[element];
  }

  public long bytes(int element) {
    return bytes[element];
  }

  /// What became of an element: [#COPIED], the code of the library, after which its destination may hold anything, or [#OPEN].
  public int result(int element) {
    return results[element];
  }

  void result(int element, int code) {
    results[element] = code;
  }

  @Override
  public String toString() {
    return elements + " copies of " + totalBytes + " bytes";
  }
}
