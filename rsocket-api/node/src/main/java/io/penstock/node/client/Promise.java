package io.penstock.node.client;

import io.penstock.tier.Receipt.Durability;
import java.util.Locale;

/// Known promise about a block; later constants are stronger.
enum Promise {
  /// No promise: the node had the block when `load` came, and no receipt is known.
  SEEN,
  /// See [Durability#VOLATILE].
  VOLATILE,
  /// See [Durability#WRITTEN].
  WRITTEN,
  /// See [Durability#FORCED].
  FORCED;

  static Promise of(Durability durability) {
    return valueOf(durability.name());
  }

  /// Whether the block must be there still.
  boolean isToStay() {
    return this == WRITTEN || this == FORCED;
  }

  /// Spelling in the file.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
