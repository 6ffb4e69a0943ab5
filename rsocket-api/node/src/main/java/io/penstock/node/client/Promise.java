package io.penstock.node.client;

import io.penstock.tier.Receipt.Durability;
import java.util.Locale;

/// What is known to be promised of a block; the later the word, the stronger.
enum Promise {
  /// Nothing: the node had the block when `load` came, and no receipt is known.
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

  /// As it is written down.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
