package io.penstock.wire.client.link;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Credentials;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

@Timeout(60)
final class AskTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /// A request whose connection closes while it is cancelled: RSocket finds that it has ended, and reports the failure.
  private static final class Closing extends Mono<Payload> {
    @Override
    public void subscribe(CoreSubscriber<? super Payload> actual) {
      actual.onSubscribe(new Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
          Operators.onErrorDropped(new ClosedChannelException(), actual.currentContext());
        }
      });
    }
  }

  @AfterEach
  void leave() {
    Hooks.resetOnErrorDropped();
  }

  @Test
  void requestThatIsCancelled_whileItsConnectionCloses_reportsNoError() {
    List<Throwable> dropped = new ArrayList<>();
    Hooks.onErrorDropped(dropped::add);
    NodeConnection made = requireNonNull(NodeConnection.open(() -> Mono.just(new Nowhere()),
        new LinkTerms(Credentials.none(), Duration.ofHours(1), Duration.ofHours(1), PATIENCE, PATIENCE, null,
            StreamListener.noop()),
        "node").block(PATIENCE));
    NodeConnection connection = new NodeConnection(new RSocket() {
      @Override
      public Mono<Payload> requestResponse(Payload payload) {
        payload.release();
        return new Closing();
      }
    }, made.transport(), "node");

    connection.ask(Routes.DRAIN, new Messages.DrainRequest(7), Messages.DrainReply.class).subscribe().dispose();
    assertThat(dropped).isEmpty();
  }
}
