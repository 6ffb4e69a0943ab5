package io.penstock.disagg;

import io.penstock.PermanentKvException;

/// The process of a source is gone, and its blocks with it.
public final class PeerRestartedException extends PermanentKvException {
  private final Incarnation peer;

  PeerRestartedException(Incarnation peer) {
    super("source must be " + peer + " (is gone)");
    this.peer = peer;
  }

  /// What the request was told to read from.
  public Incarnation peer() {
    return peer;
  }
}
