package io.penstock.wire.server.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.budget.Permits;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.InFlight;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
final class StreamTicketsTest {
  private final RunningStreams running = new RunningStreams();
  private final StreamTickets streams = new StreamTickets(2, running);

  @Test
  void drained_whenTheStreamIsOverAndItsLastSliceWasReleased() {
    Permits window = new Permits("send window", 1, 1);
    window.tryAcquire(1);
    InFlight stream = streams.enter(7);
    Runnable released = stream.enter(() -> window.release(1));
    CompletableFuture<Void> drained = streams.drained(7).toFuture();
    stream.over();
    assertThat(drained).isNotDone();
    assertThat(running.count()).isEqualTo(1);
    released.run();
    assertThat(drained).isCompleted();
    assertThat(running.count()).isZero();
    assertThat(streams.drained(7).toFuture()).as("it is known no more").isCompleted();
  }

  @Test
  void ticket_isForOneStreamAtATime() {
    InFlight first = streams.enter(7);
    assertThatThrownBy(() -> streams.enter(7)).isInstanceOfSatisfying(WireFormatException.class,
        e -> assertThat(e.field()).isEqualTo("ticket"));
    assertThat(running.count()).as("the second never ran").isEqualTo(1);
    first.over();
    streams.enter(7).over();
  }

  @Test
  void streams_ofAConnection_areCounted_alsoThoseWithoutATicketAndWithoutAnEnd() {
    InFlight endless = streams.enterEndless();
    streams.enter(0);
    assertThatThrownBy(() -> streams.enter(0)).isInstanceOfSatisfying(WireFormatException.class,
        e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
    assertThat(running.count()).as("a stream of events keeps no server from draining").isEqualTo(1);
    endless.over();
    streams.enter(0);
  }

  @Test
  void connectionThatIsGone_takesItsStreamsAlong_onceTheirLastSliceWasReleased() {
    InFlight sending = streams.enter(7);
    Runnable released = sending.enter(() -> {});
    streams.enter(0);

    streams.close();

    assertThat(running.count()).isEqualTo(1);
    released.run();
    assertThat(running.count()).isZero();
    sending.over();
    streams.close();
    assertThat(running.count()).isZero();
  }
}
