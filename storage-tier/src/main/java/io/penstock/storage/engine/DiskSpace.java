package io.penstock.storage.engine;

/// How full a medium is, whoever fills it.
///
/// @param totalBytes it has, `Long.MAX_VALUE` if nobody knows
/// @param usableBytes it could still take
public record DiskSpace(long totalBytes, long usableBytes) {
  /// A medium without end.
  public static final DiskSpace ENDLESS = new DiskSpace(Long.MAX_VALUE, Long.MAX_VALUE);

  /// The share that is in use, in [0, 1].
  public double used() {
    return totalBytes <= 0 ? 1 : Math.clamp(1 - (double) usableBytes / totalBytes, 0, 1);
  }
}
