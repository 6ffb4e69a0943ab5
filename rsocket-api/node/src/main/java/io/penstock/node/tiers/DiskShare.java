package io.penstock.node.tiers;

/// Part of a disk, and of the system's page cache, for the blocks on it.
///
/// @param capacityBytes maximum bytes of files; [#AUTO] for as many as the blocks there need
/// @param cacheBytes maximum bytes of files in the page cache once they are on the medium; [#AUTO] for the choice of
///     the system
/// @param keepFreeBytes bytes of the disk that no new file takes
/// @param highPercent of the disk in use, by any program, above which blocks leave it; 100 for never
/// @param lowPercent at which that ends
public record DiskShare(long capacityBytes, long cacheBytes, long keepFreeBytes, int highPercent, int lowPercent) {
  /// Follows from something else.
  public static final long AUTO = 0;

  /// As in [#highPercent()].
  public static final int NEVER = 100;

  private static final long KEEP_FREE_BYTES = 256L << 20;

  public DiskShare {
    requireNotNegative("capacityBytes", capacityBytes);
    requireNotNegative("cacheBytes", cacheBytes);
    requireNotNegative("keepFreeBytes", keepFreeBytes);
    if (lowPercent <= 0 || lowPercent > highPercent || highPercent > NEVER) {
      throw new IllegalArgumentException(
          "lowPercent and highPercent must be in [1, 100], in that order (was " + lowPercent + " and "
              + highPercent + ")");
    }
  }

  /// As much as the blocks need; 256 MiB stay free.
  public static DiskShare unlimited() {
    return new DiskShare(AUTO, AUTO, KEEP_FREE_BYTES, NEVER, NEVER);
  }

  /// A part of it for one of several spaces.
  DiskShare part(double part) {
    return new DiskShare(part(capacityBytes, part), part(cacheBytes, part), keepFreeBytes, highPercent, lowPercent);
  }

  private static long part(long bytes, double part) {
    return bytes == AUTO ? AUTO : Math.max(1, (long) (bytes * part));
  }

  private static void requireNotNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
  }
}
