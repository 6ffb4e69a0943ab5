package io.penstock.wire.transport;

import java.util.Locale;

/// Bound of a server that ended a connection.
public enum Refusal {
  /// Connections that are set up.
  CONNECTIONS,
  /// Connections that are set up from one address.
  ADDRESS,
  /// Connections that are not set up.
  NEWCOMERS,
  /// Time to set up.
  SETUP_TIME,
  /// Time for a frame.
  FRAME_TIME,
  /// Room for frames, which others waited for.
  ROOM,
  /// Length of a frame.
  FRAME_LENGTH,
  /// A request for a WebSocket that is none, or from a page that may not have one.
  UPGRADE,
  /// Frames of a WebSocket that break its rules.
  WEB_SOCKET,
  /// TLS where the listener has none, none where it has, or a handshake that failed.
  TLS;

  /// A word for programs.
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// True for a refusal that the peer gets as the answer to its SETUP.
  public boolean isOfSetup() {
    return this == CONNECTIONS || this == ADDRESS || this == NEWCOMERS || this == SETUP_TIME;
  }
}
