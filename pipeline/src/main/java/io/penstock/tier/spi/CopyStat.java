package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

/// What it took to copy blocks into the memory of a device and back; counters run from its opening.
///
/// @param device whose memory it is
/// @param calls of its library: one copies many elements, or a single one
/// @param elements copies that were asked for in them
/// @param bytes of these
/// @param fallbacks calls for many elements that the library does not make: each was copied by a call of its own
/// @param failed elements that were not copied, or nobody knows
public record CopyStat(String device, long calls, long elements, long bytes, long fallbacks, long failed) {
  public CopyStat {
    requireNonNull(device, "device");
  }

  /// What was counted after `before`.
  public CopyStat since(CopyStat before) {
    return new CopyStat(device, calls - before.calls, elements - before.elements, bytes - before.bytes,
        fallbacks - before.fallbacks,
        failed - before.failed);
  }
}
