package io.penstock.wire.transport;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The ways in which frames travel between a client and a node.
public enum TransportKind {
  /// TCP, a length of 24 bits before each frame.
  TCP,
  /// A Unix domain socket on one host, framed as TCP is. Needs Netty's native transport.
  UDS,
  /// WebSocket, for browsers: one binary message is one frame.
  WS,
  /// Within one process, for tests and embedders: no socket at all.
  LOCAL;

  /// A word for people and programs.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// @throws IllegalArgumentException naming the words, if `word` is none of them
  public static TransportKind of(String word) {
    return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("transport must be one of "
            + List.of(values()).stream().map(TransportKind::word).toList() + " (was " + word + ")"));
  }
}
