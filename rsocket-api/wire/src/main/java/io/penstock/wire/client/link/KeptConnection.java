package io.penstock.wire.client.link;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.CheckedFrames;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.SourceAddress;
import io.penstock.wire.transport.TimedConnection;
import io.rsocket.DuplexConnection;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.DefaultPayload;
import io.rsocket.util.EmptyPayload;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A transport that remembers the one connection it made, to close it for certain, and limits the time of its requests.
///
/// A requester that an ERROR frame of stream 0 ended leaves its connection open, and disposing it again does nothing.
public final class KeptConnection implements ClientTransport {
  private final ClientTransport transport;
  private final LinkTerms terms;
  private volatile @Nullable DuplexConnection connection;
  private volatile @Nullable Scheduler loop;
  private volatile @Nullable AnswerLimit answers;
  private volatile @Nullable RateTurns turns;

  /// @param terms limit of answers, and its timers
  KeptConnection(ClientTransport transport, LinkTerms terms) {
    this.transport = transport;
    this.terms = terms;
  }

  @Override
  public Mono<DuplexConnection> connect() {
    return transport.connect().doOnNext(this::made);
  }

  private void made(DuplexConnection made) {
    Scheduler own = made instanceof TimedConnection timed ? timed.timers() : null;
    Scheduler timers = own == null ? terms.timers() : own;
    AnswerLimit limit = new AnswerLimit(terms.answerTimeout(), timers, SourceAddress.words(made.remoteAddress()));
    Mono<Void> gone = made.onClose().onErrorComplete();
    loop = own;
    connection = made;
    answers = limit;
    turns = new RateTurns(terms.answerTimeout(), timers, terms.streams(), gone);
    gone.doFinally(end -> limit.close()).subscribe();
  }

  @Override
  public int maxFrameLength() {
    return transport.maxFrameLength();
  }

  /// Where the peer is, as the connection shows it; null for a connection that is none of the internet.
  public @Nullable SocketAddress remote() {
    DuplexConnection made = connection;
    return made == null ? null : made.remoteAddress();
  }

  /// Runs tasks on the connection's event loop; null for a connection of another module.
  public @Nullable Scheduler loop() {
    return loop;
  }

  /// Watches the requests of the connection, which was made.
  public AnswerLimit answers() {
    return requireNonNull(answers, "a connection was made");
  }

  /// Repeats requests that the node's rate refuses on the connection, which was made.
  public RateTurns turns() {
    return requireNonNull(turns, "a connection was made");
  }

  /// Connects, and asks to speak the protocol.
  Mono<RSocket> rsocket() {
    boolean isWatched = NodeConnection.timers(transport, terms) != null;
    return RSocketConnector.create()
        .payloadDecoder(PayloadDecoder.ZERO_COPY)
        .interceptors(registry -> {
          if (isWatched) {
            CheckedFrames.ofClient(registry, terms.keepAliveTimeout(), terms.timers());
          } else {
            CheckedFrames.ofClient(registry);
          }
        })
        .dataMimeType(NodeConnection.CODEC.mimeType())
        .metadataMimeType(RequestMetadata.COMPOSITE)
        .keepAlive(terms.keepAlive(), isWatched ? CheckedFrames.WATCHED : terms.keepAliveTimeout())
        .setupPayload(Mono.fromSupplier(() -> setup(terms.credentials())))
        .connect(this)
        .onErrorMap(error -> WireErrors.fromWire(error, "the node"));
  }

  private static Payload setup(Credentials credentials) {
    ByteBuf metadata = credentials.metadata(ByteBufAllocator.DEFAULT);
    return metadata.isReadable()
        ? DefaultPayload.create(Unpooled.EMPTY_BUFFER, metadata) // copies and releases
        : EmptyPayload.INSTANCE;
  }

  /// Hears of each stream of the connection.
  StreamListener streams() {
    return terms.streams();
  }

  /// Word of the transport that the connection has.
  public String word() {
    return connection instanceof ConnectionGauges gauges ? gauges.transport().word() : "other";
  }

  /// The node's process, as in [ConnectionGauges#peerProcess].
  public long peerProcess() {
    return connection instanceof ConnectionGauges gauges ? gauges.peerProcess() : ConnectionGauges.NO_PROCESS;
  }

  /// Ends `rsocket` and the connection under it.
  void end(RSocket rsocket) {
    rsocket.dispose();
    DuplexConnection made = connection;
    if (made != null) {
      made.dispose();
    }
  }
}
