package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import org.junit.jupiter.api.Test;

/// Within one process.
final class LocalTransportTest extends TransportContract {
  private static final String NAME = "LocalTransportTest";

  @Override
  ServerTransport<? extends Closeable> server() {
    return LocalTransport.server(NAME, pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  ClientTransport client(Closeable listening) {
    return LocalTransport.client(NAME, pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  ClientTransport clientWithoutServer() {
    return LocalTransport.client("absent", pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  TransportKind kind() {
    return TransportKind.LOCAL;
  }

  @Test
  void name_thatIsTaken_isRefused() {
    Closeable first = server().start(pair::collect).block(TcpPair.PATIENCE);
    assertThatThrownBy(() -> server().start(pair::collect).block(TcpPair.PATIENCE))
        .hasMessageContaining("name must be free in this process");
    first.dispose();
  }
}
