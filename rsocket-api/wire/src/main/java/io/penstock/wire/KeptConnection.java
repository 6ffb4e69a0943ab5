package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.TimedConnection;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocket;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A transport that remembers the one connection it made, to close it for certain, and limits the time of its requests.
///
/// A requester that an ERROR frame of stream 0 ended leaves its connection open, and disposing it again does nothing.
final class KeptConnection implements ClientTransport {
  private final ClientTransport transport;
  private final Duration answerTimeout;
  private volatile @Nullable DuplexConnection connection;
  private volatile @Nullable AnswerLimit answers;

  /// @param answerTimeout how long the node may owe an answer and say nothing
  KeptConnection(ClientTransport transport, Duration answerTimeout) {
    this.transport = transport;
    this.answerTimeout = answerTimeout;
  }

  @Override
  public Mono<DuplexConnection> connect() {
    return transport.connect().doOnNext(this::made);
  }

  private void made(DuplexConnection made) {
    Scheduler timers = made instanceof TimedConnection timed ? timed.timers() : null;
    AnswerLimit limit = new AnswerLimit(answerTimeout, timers, String.valueOf(made.remoteAddress()));
    connection = made;
    answers = limit;
    made.onClose().onErrorComplete().doFinally(end -> limit.close()).subscribe();
  }

  @Override
  public int maxFrameLength() {
    return transport.maxFrameLength();
  }

  /// Watches the requests of the connection, which was made.
  AnswerLimit answers() {
    return requireNonNull(answers, "a connection was made");
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
