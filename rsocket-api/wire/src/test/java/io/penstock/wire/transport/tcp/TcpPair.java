package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.frame.LedgerAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Event loops, a listener and clients of it on loopback, with every buffer counted.
public final class TcpPair implements AutoCloseable {
  public static final Duration PATIENCE = Duration.ofSeconds(20);

  public final LedgerAllocator ledger = new LedgerAllocator();
  public final LoopResources loops = LoopResources.create("test", 2, true);
  final List<DuplexConnection> accepted = new CopyOnWriteArrayList<>();
  final List<Throwable> causes = new CopyOnWriteArrayList<>();
  final AtomicLong peakQueuedBytes = new AtomicLong();
  public final ConnectionListener listener = new ConnectionListener() {
    @Override
    public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
      peakQueuedBytes.accumulateAndGet(connection.peakQueuedBytes(), Math::max);
      if (cause != null) {
        causes.add(cause);
      }
    }
  };
  private final ByteBuf zeros = Unpooled.directBuffer(1 << 20).writeZero(1 << 20);
  private final List<TcpListener> listening = new ArrayList<>();
  public ConnectionLimits limits = ConnectionLimits.defaults();
  /// Bare connections send no SETUP: their first frame may be any.
  ReceiveLimits receive = ReceiveLimits.defaults().withSetupBytes(ConnectionLimits.LONGEST_FRAME);
  ConnectionSlots slots = ConnectionSlots.defaults().withTimeToSetup(PATIENCE);

  TcpListener listen(ServerTransport.ConnectionAcceptor acceptor) {
    return listen(server(), acceptor);
  }

  TcpListener listen(ServerTransport<TcpListener> transport, ServerTransport.ConnectionAcceptor acceptor) {
    TcpListener bound = transport.start(acceptor).block(PATIENCE);
    listening.add(bound);
    return bound;
  }

  ServerTransport<TcpListener> server() {
    return server(options -> options);
  }

  ServerTransport<TcpListener> server(UnaryOperator<TcpServerOptions> change) {
    TcpServerOptions options = change.apply(TcpServerOptions.on("127.0.0.1", 0).withLimits(limits).withSlots(slots)
        .withReceive(receive));
    return TcpTransport.server(options, Framing.LENGTHS, loops, listener, ledger);
  }

  ClientTransport client(TcpListener to) {
    return client(to.port());
  }

  ClientTransport client(int port) {
    return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port).withLimits(limits), Framing.LENGTHS, loops,
        listener,
        ledger);
  }

  /// One shared run of bytes: endless streams of it cost no memory.
  ByteBuf zeros(int size) {
    return zeros.retainedSlice(0, size);
  }

  /// Accepts connections and leaves them to the test.
  public Mono<Void> collect(DuplexConnection connection) {
    accepted.add(connection);
    return connection.onClose();
  }

  DuplexConnection accepted(int index) {
    Eventually.holds("connection " + index + " was accepted", () -> accepted.size() > index);
    return accepted.get(index);
  }

  /// Both ends of one connection.
  record Two(DuplexConnection client, DuplexConnection server) {}

  Two connect() {
    int index = accepted.size();
    TcpListener bound = listen(this::collect);
    DuplexConnection client = client(bound).connect().block(PATIENCE);
    return new Two(client, accepted(index));
  }

  static ConnectionGauges gauges(DuplexConnection connection) {
    return (ConnectionGauges) connection;
  }

  /// A frame of `size` bytes that begins with `mark`.
  ByteBuf marked(int size, int mark) {
    return ledger.directBuffer(size).writeByte(mark).writeZero(size - 1);
  }

  ByteBuf buffer(byte[] bytes) {
    return ledger.directBuffer(bytes.length).writeBytes(bytes);
  }

  /// All buffers came back, slices of the zeros among them.
  void assertAllReturned() {
    Eventually.holds("no frame holds the zeros", () -> zeros.refCnt() == 1);
    ledger.assertAllReturned();
  }

  @Override
  public void close() {
    for (TcpListener bound : listening) {
      bound.dispose();
      bound.onClose().block(PATIENCE);
    }
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    assertAllReturned();
    zeros.release();
  }
}
