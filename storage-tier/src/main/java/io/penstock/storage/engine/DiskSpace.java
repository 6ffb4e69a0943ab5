package io.penstock.storage.engine;

/// How full a medium is, by all programs.
///
/// @param totalBytes it has, `Long.MAX_VALUE` if that is unknown
/// @param usableBytes it could still take
public record DiskSpace(long totalBytes, long usableBytes) {
  /// A medium without end.
  public static final DiskSpace ENDLESS = new DiskSpace(Long.MAX_VALUE, Long.MAX_VALUE);

  /// The share that is in use, in [0, 1].
  public double used() {
    return totalBytes <= 0 ? 1 : Math.clamp(1 - (double) usableBytes / totalBytes, 0, 1);
  }
}
