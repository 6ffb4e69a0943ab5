package io.penstock.node.replay;

import io.penstock.node.party.DecodeParty;
import io.penstock.node.party.Delivery;
import io.penstock.node.party.PrefillParty;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.stage.Pace;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Streams a trace through the parties: one request after the other, or as many at once as the pace allows.
///
/// Requests always begin in the order of the trace; with a concurrency of 1 a request ends before the next one begins.
/// The consumer's progress starts the next request; a few are parsed ahead.
public final class Replay {
  /// Requests parsed beforehand, so that the end of one and the beginning of the next need not wait for the driver's
  /// thread.
  private static final int READ_AHEAD = 16;

  private final DecodeParty decode;
  private final PrefillParty prefill;
  private final ReplayPace pace;
  private final Scheduler driver;

  /// @param driver reads the trace, which may block on a disk, and starts requests in turn; its clock paces them
  public Replay(DecodeParty decode, PrefillParty prefill, ReplayPace pace, Scheduler driver) {
    this.decode = decode;
    this.prefill = prefill;
    this.pace = pace;
    this.driver = driver;
  }

  /// A request and its delivery.
  record Served(TraceRequest request, Delivery delivery) {}

  /// The deliveries of the requests of `trace`, as they end, like [#served].
  public Flux<Delivery> deliveries(TraceSource trace) {
    return served(trace).map(Served::delivery);
  }

  /// The requests of `trace` with their deliveries, as they end.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | at most `pace.concurrency()` requests are under way |
  /// | cancel | cancels the requests under way |
  /// | threads | on whichever thread a request ended, one at a time |
  /// | signals | [io.penstock.node.trace.TraceFormatException]; whatever a party fails with |
  ///
  /// @param trace read by this stream alone, and not closed by it
  Flux<Served> served(TraceSource trace) {
    return requests(trace).subscribeOn(driver).publishOn(Schedulers.immediate(), READ_AHEAD)
        .transform(Pace.<TraceRequest>trace(Replay::time, pace.speed(), driver))
        .flatMap(this::read, pace.concurrency(), 1);
  }

  private static Duration time(TraceRequest request) {
    return Duration.ofMillis(request.timestampMillis());
  }

  private Mono<Served> read(TraceRequest request) {
    // A request without an end is a failure
    return decode.read(request.hashIds(), answer -> prefill.put(answer.admitted())).single()
        .map(delivery -> new Served(request, delivery));
  }

  private Flux<TraceRequest> requests(TraceSource trace) {
    return Flux.generate(() -> 0L, (Long made, SynchronousSink<TraceRequest> sink) -> {
      TraceRequest request = made < pace.limit() ? trace.next() : null;
      emit(request, sink);
      return made + 1;
    });
  }

  private static void emit(@Nullable TraceRequest request, SynchronousSink<TraceRequest> sink) {
    if (request == null) {
      sink.complete();
    } else {
      sink.next(request);
    }
  }
}
