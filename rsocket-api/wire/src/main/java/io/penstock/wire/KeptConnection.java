package io.penstock.wire;

import io.penstock.wire.transport.ConnectionGauges;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocket;
import io.rsocket.transport.ClientTransport;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A transport that remembers the one connection it made, to close it for certain.
///
/// A requester that an ERROR frame of stream 0 ended leaves its connection open, and disposing it again does nothing.
final class KeptConnection implements ClientTransport {
  private final ClientTransport transport;
  private volatile @Nullable DuplexConnection connection;

  KeptConnection(ClientTransport transport) {
    this.transport = transport;
  }

  @Override
  public Mono<DuplexConnection> connect() {
    return transport.connect().doOnNext(made -> connection = made);
  }

  @Override
  public int maxFrameLength() {
    return transport.maxFrameLength();
  }

  /// Word of the transport that the connection has.
  String word() {
    return connection instanceof ConnectionGauges gauges ? gauges.transport().word() : "other";
  }

  /// Ends `rsocket` and what lies under it.
  void end(RSocket rsocket) {
    rsocket.dispose();
    DuplexConnection made = connection;
    if (made != null) {
      made.dispose();
    }
  }
}
