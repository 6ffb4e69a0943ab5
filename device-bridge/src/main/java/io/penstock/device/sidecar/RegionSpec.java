package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.device.sidecar.RegionSource.Memfd;

/// Memory that a process shares with the node, under a number that copies name it by.
///
/// @param id above 0, the process's own choice
/// @param bytes how much of the source, from its beginning
public record RegionSpec(long id, long bytes, RegionSource source) {
  /// Longest there may be.
  public static final long MAX_BYTES = 1L << 46;

  public RegionSpec {
    Checks.positive("id", id);
    if (bytes <= 0 || bytes > MAX_BYTES) {
      throw new IllegalArgumentException("bytes must be in [1, " + MAX_BYTES + "] (was " + bytes + ")");
    }
    requireNonNull(source, "source");
  }

  /// Host memory that the node allocates for it.
  public long hostBytes() {
    return source instanceof Memfd ? bytes : 0;
  }

  /// Whether all of `length` bytes at `offset` are in it.
  public boolean contains(long offset, long length) {
    return offset >= 0 && length > 0 && length <= bytes && offset <= bytes - length;
  }
}
