package io.penstock.storage.engine;

/// Space of a medium, used by all programs.
///
/// @param totalBytes of the medium, `Long.MAX_VALUE` if unknown
/// @param usableBytes that are free
public record DiskSpace(long totalBytes, long usableBytes) {
  /// An endless medium.
  public static final DiskSpace ENDLESS = new DiskSpace(Long.MAX_VALUE, Long.MAX_VALUE);

  /// The share that is in use, in [0, 1].
  public double used() {
    return totalBytes <= 0 ? 1 : Math.clamp(1 - (double) usableBytes / totalBytes, 0, 1);
  }
}
