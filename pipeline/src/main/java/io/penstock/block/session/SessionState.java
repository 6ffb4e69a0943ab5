package io.penstock.block.session;

/// What a client says of a session.
public enum SessionState {
  /// A turn is under way, or comes soon.
  ACTIVE,
  /// The next turn comes later: the session waits for a tool, or for a person.
  PAUSED,
  /// No turn comes any more. Its blocks are the first victims, except those that other sessions use, too.
  ENDED
}
