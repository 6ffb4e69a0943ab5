package io.penstock.disagg.registry;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import org.jspecify.annotations.Nullable;

/// A rank that has an owner. Not safe for use by several threads.
final class Held {
  final RankId rank;
  final RankOwner owner;
  /// The peer whose shares it counts against; null if another registry told it.
  final @Nullable Registrant by;
  /// The last one that the owner claimed or registered.
  long generation;
  /// Null until the rank registers, and while ranks that it does not go with are shown instead.
  @Nullable Registration registration;
  /// When any registry heard it. Only [HeardRanks] changes it.
  long heardNanos;
  /// Whether this registry has heard it itself, and when.
  boolean isHeardHere;
  long hereNanos;

  Held(RankId rank, RankOwner owner, @Nullable Registrant by) {
    this.rank = rank;
    this.owner = owner;
    this.by = by;
  }

  boolean is(Incarnation who) {
    return registration != null && registration.who().equals(who);
  }
}
