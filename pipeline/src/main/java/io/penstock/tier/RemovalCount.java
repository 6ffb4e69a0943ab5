package io.penstock.tier;

/// What a removal of the keys that a [KeyFilter] takes has done.
///
/// @param removed blocks that it removed, each with an event
/// @param leased blocks that it left because a read lease holds them
/// @param notReady keys that it left because they are being written
public record RemovalCount(long removed, long leased, long notReady) {
  static final RemovalCount NONE = new RemovalCount(0, 0, 0);

  RemovalCount and(KeyOutcome outcome) {
    return switch (outcome) {
      case OK -> new RemovalCount(removed + 1, leased, notReady);
      case LEASED -> new RemovalCount(removed, leased + 1, notReady);
      case NOT_READY -> new RemovalCount(removed, leased, notReady + 1);
      case NOT_FOUND -> this;
    };
  }
}
