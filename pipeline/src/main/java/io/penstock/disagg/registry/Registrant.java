package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

/// A peer that registers ranks: their owner, and the sources whose shares of the registry they count against.
///
/// @param address of the peer; equal for its connections
/// @param connection of the peer, one of those of its address
public record Registrant(RankOwner owner, Object address, Object connection) {
  public Registrant {
    requireNonNull(owner, "owner");
    requireNonNull(address, "address");
    requireNonNull(connection, "connection");
  }
}
