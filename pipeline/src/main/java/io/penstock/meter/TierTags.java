package io.penstock.meter;

import io.micrometer.core.instrument.Tags;
import io.penstock.tier.Medium;
import io.penstock.tier.TierStat;
import java.util.Locale;

/// The tags of every meter of a tier, or of one of its levels.
final class TierTags {
  private TierTags() {}

  static Tags of(String tier, Medium medium) {
    return Tags.of(MeterTag.TIER.asString(), tier, MeterTag.MEDIUM.asString(), medium.name().toLowerCase(Locale.ROOT));
  }

  static Tags of(String tier, TierStat.Level level) {
    return of(tier, level.medium()).and(MeterTag.LEVEL.asString(), level.name());
  }
}
