package io.penstock.meter;

import io.micrometer.common.docs.KeyName;

/// The tags of the catalogue. Values are configured names or words of an enum: never a key, a client's text or a message.
public enum MeterTag implements KeyName {
  /// Configured name of a tier.
  TIER("tier"),
  /// Where a tier's bytes rest, a [io.penstock.tier.Medium] in lower case.
  MEDIUM("medium"),
  /// Name of a byte budget.
  BUDGET("budget"),
  /// Name of an arena.
  ARENA("arena"),
  /// `hit` or `miss`.
  RESULT("result");

  private final String key;

  MeterTag(String key) {
    this.key = key;
  }

  @Override
  public String asString() {
    return key;
  }
}
