package io.penstock.meter;

import io.micrometer.core.instrument.Tags;
import io.penstock.tier.Medium;
import java.util.Locale;

/// The tags of every tier meter.
final class TierTags {
  private TierTags() {}

  static Tags of(String tier, Medium medium) {
    return Tags.of(MeterTag.TIER.asString(), tier, MeterTag.MEDIUM.asString(), medium.name().toLowerCase(Locale.ROOT));
  }
}
