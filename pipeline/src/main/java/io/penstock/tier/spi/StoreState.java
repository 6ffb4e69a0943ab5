package io.penstock.tier.spi;

/// What a [BlockStore] can do now.
public enum StoreState {
  /// Takes blocks and gives them.
  ACTIVE,
  /// Gives blocks and takes none, as a full disk does.
  DEGRADED,
  /// Neither takes nor gives.
  OFF;

  /// Whether it takes blocks.
  public boolean takes() {
    return this == ACTIVE;
  }

  /// Whether it gives the blocks that it has.
  public boolean gives() {
    return this != OFF;
  }
}
