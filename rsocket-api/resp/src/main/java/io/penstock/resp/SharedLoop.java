package io.penstock.resp;

import io.penstock.wire.transport.AwakeLoop;

/// The connections of one event loop: it knows whether several of them send by turns, and keeps the loop awake for what
/// they send next. On the event loop.
final class SharedLoop {
  /// Reads of one connection, with none of another between them, until the loop is not shared.
  static final int SHARED = 64;

  private final AwakeLoop awake;
  private int connections;
  /// The connection that was heard last; 0 before the first one, which counts as shared: others may be about to send.
  private int last;
  /// Reads of one connection in a row until it has the loop to itself.
  private int shared;

  SharedLoop(AwakeLoop awake) {
    this.awake = awake;
  }

  /// A number for a connection of this loop.
  int connect() {
    return ++connections;
  }

  /// Whether other connections have sent something lately, too.
  boolean isShared() {
    return shared > 0;
  }

  /// The client of `connection` has sent something.
  ///
  /// @param hasMore whether a short rest of its request has to come before it gets an answer
  void heard(int connection, boolean hasMore) {
    shared = connection == last ? Math.max(0, shared - 1) : SHARED;
    last = connection;
    awake.heard(hasMore);
  }
}
