package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

/// A segment of a peer, as the peer described it. An item that names it fails if the peer has restarted, or has
/// unregistered it, since then.
///
/// @param peer address of the peer, as the engine's connector understands it
public record RemoteSegment(String peer, Segment segment) {
  public RemoteSegment {
    requireNonNull(peer, "peer");
    requireNonNull(segment, "segment");
  }
}
