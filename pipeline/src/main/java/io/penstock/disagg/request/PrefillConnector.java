package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The requests whose blocks a prefill rank keeps for others: each until all its receivers are done, one of them
/// cancels it, or its lease expires.
///
/// A receiver counts once, however often it says that it is done. Signals may come before [#open]: they are remembered
/// and count then. Signals of a request that has ended change nothing. A name serves one request.
///
/// Safe from any thread. Blocks are given up, and listeners told, outside locks.
public final class PrefillConnector implements KvConnector {
  private static final int SLOTS = 512;
  private static final int MOST_EARLY = 1 << 16;

  private final LifecycleOptions options;
  private final LifecycleListener listener;
  private final RequestInputs inputs;
  private final TimerWheel wheel;
  private final Map<String, Sending> requests = new ConcurrentHashMap<>();
  private final LongAdder held = new LongAdder();
  private final LongAdder early = new LongAdder();
  private final LongAdder duplicates = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder strangers = new LongAdder();
  private final LongAdder expired = new LongAdder();
  private final Sinks.Empty<Void> drained = Sinks.empty();
  private volatile boolean draining;

  /// @param timers clock, and thread of leases that expire
  public PrefillConnector(LifecycleOptions options, LifecycleListener listener, Scheduler timers) {
    this(options, listener, timers, RequestInputs.direct());
  }

  /// @param inputs puts what comes from elsewhere in an order
  public PrefillConnector(LifecycleOptions options, LifecycleListener listener, Scheduler timers,
      RequestInputs inputs) {
    this.inputs = requireNonNull(inputs, "inputs");
    this.options = requireNonNull(options, "options");
    this.listener = requireNonNull(listener, "listener");
    this.wheel = new TimerWheel(timers, options.tick(), SLOTS);
    inputs.begin(options, wheel::now, this::look);
  }

  private void look(String request) {
    Sending sending = requests.get(request);
    if (sending != null) {
      sending.due(now());
    }
  }

  /// Keeps `blocks` for `receivers`.
  ///
  /// @param receivers ranks that report when they are done: the ranks that read from this one, or the rank that
  ///     releases it; at least one
  /// @return whether the request is kept now. [Outcome#REPEATED] if it was open with equal receivers and blocks: an
  ///     engine whose answer was lost asks again, and `blocks` stay the caller's. [Outcome#OVER] if signals that came
  ///     before have ended it at once
  /// @throws IllegalArgumentException if the request is open otherwise, or had ended
  public RequestAnswer open(String request, Set<RankId> receivers, HeldBlocks blocks) {
    if (receivers.isEmpty()) {
      throw new IllegalArgumentException("receivers must be at least one (was none)");
    }
    Set<RankId> waiting = Set.copyOf(receivers);
    return opened(request, waiting, blocks);
  }

  /// Keeps `blocks` for receivers that are not known yet: each states their number.
  ///
  /// @return see [#open(String, Set, HeldBlocks)]
  /// @throws IllegalArgumentException if the request is open otherwise, or had ended
  public RequestAnswer open(String request, HeldBlocks blocks) {
    return opened(request, Set.of(), blocks);
  }

  private RequestAnswer opened(String request, Set<RankId> receivers, HeldBlocks blocks) {
    return inputs.open(request, receivers, () -> {
      RequestAnswer answer = of(request, sending -> sending.open(receivers, blocks));
      inputs.answered(request, answer);
      return answer;
    });
  }

  /// Whether `request` is open for `receivers` with blocks that `same` accepts.
  public boolean isOpen(String request, Set<RankId> receivers, Predicate<HeldBlocks> same) {
    Sending sending = requests.get(request);
    return sending != null && sending.isOpen(receivers, same);
  }

  /// Bytes of `request` were sent: its lease starts again.
  public void moved(String request) {
    Sending sending = requests.get(request);
    if (sending != null) {
      inputs.moved(request, sending::renew);
    }
  }

  /// Receives `signal`.
  ///
  /// @return what became of it: hot; comes at once, except for [Signal.Kind#CANCEL] and [Signal.Kind#REJECT], whose
  ///     answer comes when the blocks have drained
  public Mono<RequestAnswer> accept(Signal signal) {
    return inputs.hear(signal, () -> of(signal.request(), sending -> sending.hear(signal)));
  }

  /// Ends `request` from this side.
  ///
  /// @return [Outcome#APPLIED]; [Outcome#OVER] or [Outcome#UNKNOWN] for a request that was not open
  public RequestAnswer withdraw(String request) {
    return inputs.withdraw(request, () -> {
      Sending sending = requests.get(request);
      RequestAnswer answer = sending == null ? RequestAnswer.of(Outcome.UNKNOWN) : sending.withdraw();
      inputs.answered(request, answer);
      return answer;
    });
  }

  @Override
  public Optional<RequestState> state(String request) {
    return Optional.ofNullable(requests.get(request)).flatMap(Sending::state);
  }

  /// Runs `use` with the request, which another thread may be forgetting: then with a new one.
  private <T> T of(String request, Function<Sending, @Nullable T> use) {
    while (true) {
      T result = use.apply(requests.computeIfAbsent(request, name -> new Sending(this, name)));
      if (result != null) {
        return result;
      }
    }
  }

  /// Counts since the start, and requests held now.
  public Figures figures() {
    return new Figures(held.sum(), requests.size() - held.sum(), duplicates.sum(), late.sum(), strangers.sum(),
        expired.sum());
  }

  /// Drains: the node opens no other request from now on; signals still count.
  ///
  /// @return cold; completes when the requests that are kept have ended
  public Mono<Void> drained() {
    return Mono.defer(() -> {
      draining = true;
      tellDrained();
      return drained.asMono();
    });
  }

  /// True from [#drained()] on.
  public boolean isDraining() {
    return draining;
  }

  private void tellDrained() {
    if (draining && held.sum() == 0) {
      drained.tryEmitEmpty();
    }
  }

  @Override
  public Mono<Void> close() { // all at once: an end that drains slowly must not keep the others' blocks
    return Flux.defer(() -> Flux.fromIterable(requests.values())).flatMap(Sending::closed, Integer.MAX_VALUE, 1).then()
        .doOnTerminate(wheel::dispose);
  }

  public LifecycleOptions options() {
    return options;
  }

  TimerWheel wheel() {
    return wheel;
  }

  RequestInputs inputs() {
    return inputs;
  }

  /// Nanoseconds of the timers.
  long now() {
    return inputs.nanos(wheel::now);
  }

  /// Whether one more receiver may be remembered whose signal came before its request was opened.
  boolean enterEarly() {
    boolean enters = early.sum() < MOST_EARLY;
    if (enters) {
      early.increment();
    }
    return enters;
  }

  void leaveEarly(int places) {
    early.add(-places);
  }

  void opened() {
    held.increment();
  }

  void duplicate() {
    duplicates.increment();
  }

  void late() {
    late.increment();
  }

  void stranger() {
    strangers.increment();
  }

  void released(String request, Release release) {
    held.decrement();
    if (release == Release.EXPIRED) {
      expired.increment();
    }
    inputs.released(request, release);
    listener.released(request, release);
    inputs.afterwards(this::tellDrained);
  }

  void forget(Sending sending) {
    requests.remove(sending.request(), sending);
  }

  /// What a prefill rank holds and has counted.
  ///
  /// @param held requests whose blocks are kept, or drain
  /// @param remembered requests that have ended, or of which only signals came
  /// @param duplicates signals of receivers that were done already
  /// @param late signals for requests that had ended
  /// @param strangers signals of ranks that are no receivers of their request
  /// @param expired leases that expired
  public record Figures(long held, long remembered, long duplicates, long late, long strangers, long expired) {
    public Figures {
      Checks.notNegative("held", held);
    }
  }
}
