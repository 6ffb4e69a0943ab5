package io.penstock.wire.transport.local;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.TcpPair;
import io.penstock.wire.transport.tcp.TransportContract;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import org.junit.jupiter.api.Test;

/// Within one process.
final class LocalTransportTest extends TransportContract {
  private static final String NAME = "LocalTransportTest";

  @Override
  public ServerTransport<? extends Closeable> server() {
    return LocalTransport.server(NAME, pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  public ClientTransport client(Closeable listening) {
    return LocalTransport.client(NAME, pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  public ClientTransport clientWithoutServer() {
    return LocalTransport.client("absent", pair.limits, pair.loops, pair.listener, pair.ledger);
  }

  @Override
  public TransportKind kind() {
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
