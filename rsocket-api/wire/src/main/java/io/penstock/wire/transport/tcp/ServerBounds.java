package io.penstock.wire.transport.tcp;

/// The connections and unfinished frames of one server, over all transports that it listens on: they share one bound.
public final class ServerBounds {
  private final IncomingFrames.Server shared;

  private ServerBounds(IncomingFrames.Server shared) {
    this.shared = shared;
  }

  /// Bounds from the slots and the room of `options`.
  public static ServerBounds of(TcpServerOptions options) {
    return new ServerBounds(new IncomingFrames.Server(options));
  }

  IncomingFrames.Server shared() {
    return shared;
  }

  /// Connections open now.
  public int connections() {
    return shared.accepted().count();
  }

  /// Room that unfinished frames have taken.
  public long frameBytes() {
    return shared.room().taken();
  }
}
