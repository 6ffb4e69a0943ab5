package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.check.Uncaught;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.MoveFailure.MoveTimeoutException;
import io.penstock.disagg.request.Signal.Kind;
import io.penstock.operator.LiveTimers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The requests whose blocks a receiving rank gets from others. Each ends once, in one [Ending], within its deadline
/// and the time of a drain, whatever its sources do.
///
/// Sources are told that this rank is done with them as soon as their shard has come; those that have nothing for it,
/// and those that no rank reads and it releases, at once. If a request ends otherwise, its other sources hear a cancel,
/// and its memory is given up when its moves have drained and the sources have acknowledged. A source that does not is
/// waited for no longer than [LifecycleOptions.Patience#drain()]: what it still sends finds its ticket closed.
///
/// With [LiveTimers] no source is judged by time in which this process stood still. After a standstill all leases are
/// renewed at once: a source whose lease has expired answers so, and its moves fail.
///
/// Safe from any thread.
public final class DecodeConnector implements KvConnector {
  private static final int SLOTS = 512;

  private final Incarnation self;
  private final LifecycleOptions options;
  private final PeerSignals signals;
  private final LifecycleListener listener;
  private final Scheduler timers;
  private final RandomGenerator random;
  private final TimerWheel wheel;
  private final Disposable wakes;
  private final Map<String, Receiving> requests = new ConcurrentHashMap<>();
  private final LongAdder untold = new LongAdder();
  private final LongAdder telling = new LongAdder();
  private final LongAdder stale = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder retried = new LongAdder();
  private final LongAdder tooLate = new LongAdder();

  /// @param self this rank, as sources know it
  /// @param timers clock of all times, and thread of what they end
  /// @param random of the jitter
  public DecodeConnector(Incarnation self, LifecycleOptions options, PeerSignals signals, LifecycleListener listener,
      Scheduler timers, RandomGenerator random) {
    this.self = requireNonNull(self, "self");
    this.options = requireNonNull(options, "options");
    this.signals = requireNonNull(signals, "signals");
    this.listener = requireNonNull(listener, "listener");
    this.timers = requireNonNull(timers, "timers");
    this.random = requireNonNull(random, "random");
    this.wheel = new TimerWheel(timers, options.tick(), SLOTS);
    this.wakes = LiveTimers.wakes(timers).subscribe(late -> requests.values().forEach(Receiving::renewNow));
  }

  /// Moves all shards of `order`.
  ///
  /// | | |
  /// |---|---|
  /// | threads | those of movers, or the timers' |
  /// | cancel | ends the request: movers stop, sources are informed, memory is given up when all has drained |
  /// | signals | the end of the request, also of one that failed; an error only if the name is in use |
  ///
  /// @return cold, subscribed to once
  public Mono<Received> receive(ReceiveOrder order) {
    return Mono.create(sink -> {
      Receiving receiving = new Receiving(this, order, sink::success);
      if (requests.putIfAbsent(order.request(), receiving) != null) {
        sink.error(new IllegalStateException("request must be new (" + order.request() + " is being received)"));
        return;
      }
      sink.onCancel(receiving::cancel);
      receiving.start();
    });
  }

  /// Reports to the sources of a request that this rank never admits it: nothing moves.
  ///
  /// @return cold; completes when all have acknowledged, or the tries are used up
  public Mono<Void> reject(String request, List<Incarnation> sources) {
    return Mono.when(sources.stream().map(source -> told(source, request, Kind.REJECT, 1)).toList());
  }

  /// Fails the moves from a process that is known to be gone.
  public void gone(Incarnation source) {
    requests.values().forEach(receiving -> receiving.gone(source));
  }

  @Override
  public Optional<RequestState> state(String request) {
    return Optional.ofNullable(requests.get(request)).map(Receiving::state);
  }

  /// Counts since the start, and requests under way.
  public Figures figures() {
    return new Figures(requests.size(), telling.sum(), untold.sum(), stale.sum(), late.sum(), retried.sum(),
        tooLate.sum());
  }

  @Override
  public Mono<Void> close() {
    return Mono.fromRunnable(() -> {
      wakes.dispose();
      requests.values().forEach(Receiving::cancel);
      wheel.dispose();
    });
  }

  long now() {
    return wheel.now();
  }

  LifecycleOptions options() {
    return options;
  }

  TimerWheel wheel() {
    return wheel;
  }

  void stale() {
    stale.increment();
  }

  void late() {
    late.increment();
  }

  void retried() {
    retried.increment();
  }

  Duration pause(FailurePolicy policy, int retry) {
    synchronized (random) {
      return policy.pauseBefore(retry, random);
    }
  }

  void after(Duration pause, Runnable task) {
    timers.schedule(task, pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  void follow(Mono<Void> work, Runnable then) {
    work.subscribe(nothing -> {}, failed -> then.run(), then);
  }

  /// Sends the signal to `to` again and again until it acknowledges.
  void tell(Incarnation to, String request, Kind kind, int readers) {
    follow(told(to, request, kind, readers), () -> {});
  }

  /// Sends a renewal to `to` once: the next one repeats it.
  ///
  /// @param released hears how the request ended, if it is over there
  void renew(Incarnation to, String request, int readers, Consumer<Release> released) {
    sent(to, new Signal(Kind.RENEW, request, self, readers)).subscribe(answer -> {
      Release release = answer.release();
      if (release != null) {
        tooLate.increment();
        released.accept(release);
      }
    }, failed -> {});
  }

  private Mono<Void> told(Incarnation to, String request, Kind kind, int readers) {
    return Mono.defer(() -> {
      telling.increment();
      return told(to, new Signal(kind, request, self, readers), 1);
    }).doFinally(end -> telling.decrement());
  }

  private Mono<Void> told(Incarnation to, Signal signal, int attempt) {
    return sent(to, signal).flatMap(DecodeConnector::heard).onErrorResume(error -> {
      if (attempt >= options.signals().tries() || !(error instanceof TransientKvException)) {
        untold.increment();
        return Mono.empty();
      }
      Duration pause = pause(FailurePolicy.fail(), attempt);
      return Mono.delay(pause, timers).then(Mono.defer(() -> told(to, signal, attempt + 1)));
    });
  }

  /// A rank without room for what comes early did not keep the signal: it is sent again later.
  private static Mono<Void> heard(RequestAnswer answer) {
    return answer.outcome() == RequestAnswer.Outcome.FULL
        ? Mono.error(new TransientKvException("the rank has no room for a signal before its request"))
        : Mono.empty();
  }

  private Mono<RequestAnswer> sent(Incarnation to, Signal signal) {
    Duration patience = signal.kind() == Kind.DONE || signal.kind() == Kind.RENEW
        ? options.signals().timeout()
        : options.patience().drain();
    return Mono.defer(() -> signals.send(to, signal))
        .timeout(patience, Mono.error(() -> new MoveTimeoutException(to, RequestState.WAITING_FOR_INPUT, patience)),
            timers);
  }

  /// Ends a request.
  ///
  /// @param unsent sources that do not know yet that this rank is done
  /// @param drained completes when its moves touch no memory any more
  void finish(ReceiveOrder order, Received received, List<Incarnation> unsent, Mono<Void> drained,
      Consumer<Received> emit) {
    if (received.state() == RequestState.SUCCESS) {
      requests.remove(order.request());
      if (received.ending() == Ending.READY) {
        listener.ready(received);
      }
      end(received, emit);
      return;
    }
    Mono<Void> acknowledged =
        Mono.when(unsent.stream().map(source -> told(source, order.request(), Kind.CANCEL, 1)).toList()).cache();
    follow(acknowledged, () -> {});
    Mono<Void> quiet = drained.and(acknowledged.timeout(options.patience().drain(), Mono.empty(), timers)).cache();
    if (received.ending() == Ending.RECOMPUTE) { // the engine writes these blocks next
      Mono<Boolean> inTime =
          quiet.thenReturn(true).timeout(options.patience().drain().multipliedBy(2), Mono.just(false), timers);
      inTime.subscribe(isQuiet -> {
        if (isQuiet) {
          requests.remove(order.request());
          end(received, emit);
        } else {
          fail(order, received.undrained(), quiet, emit);
        }
      });
    } else {
      fail(order, received, quiet, emit);
    }
  }

  private void fail(ReceiveOrder order, Received received, Mono<Void> quiet, Consumer<Received> emit) {
    end(received, emit);
    follow(quiet.then(Mono.defer(order.blocks()::release).doOnError(Uncaught::report)),
        () -> requests.remove(order.request()));
  }

  private void end(Received received, Consumer<Received> emit) {
    listener.ended(received);
    emit.accept(received);
  }

  /// What a receiving rank has under way and has counted.
  ///
  /// @param requests that have not ended, or drain
  /// @param telling signals that wait for their acknowledgement
  /// @param untold sources that never acknowledged a signal: their leases expire
  /// @param stale slices that came with another generation, or after the end of their attempt
  /// @param late completions that came after the end of their attempt
  /// @param retried attempts after the first
  /// @param tooLate renewals of requests whose blocks the source had given up
  public record Figures(long requests, long telling, long untold, long stale, long late, long retried, long tooLate) {}
}
