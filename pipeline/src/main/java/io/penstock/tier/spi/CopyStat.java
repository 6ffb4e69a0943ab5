package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

/// Copies of blocks into the memory of a device and back; counters run from its start.
///
/// @param device whose memory it is
/// @param calls calls of its library; one copies one or many elements
/// @param elements elements that these calls were to copy
/// @param bytes bytes of the elements
/// @param fallbacks calls for many elements that the library does not offer: a call copied each element
/// @param failed elements that were not copied, or may not have been
public record CopyStat(String device, long calls, long elements, long bytes, long fallbacks, long failed) {
  public CopyStat {
    requireNonNull(device, "device");
  }

  /// What was counted after `before`.
  public CopyStat since(CopyStat before) {
    return new CopyStat(device, calls - before.calls, elements - before.elements, bytes - before.bytes,
        fallbacks - before.fallbacks, failed - before.failed);
  }
}
