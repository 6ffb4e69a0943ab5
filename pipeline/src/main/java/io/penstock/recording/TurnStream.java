package io.penstock.recording;

import io.penstock.check.Uncaught;
import io.penstock.operator.SerialLoop;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// A stream of a tier as its reader sees it: demand and cancel are turns of their own; what the tier sends in a turn
/// leaves when the turn has ended. The queue between holds what one turn sends, which demand bounds.
///
/// @param <T> type of the tier's elements
/// @param <R> type of the reader's elements
final class TurnStream<T, R> implements CoreSubscriber<T>, Subscription, Turns.Reader {
  /// What leads from the tier's elements to the reader's.
  ///
  /// @param <T> type of the tier's elements
  /// @param <R> type of the reader's elements
  interface Passage<T, R> {
    /// Records an element, in the turn that sends it.
    R sent(long flow, T element);

    /// Gives an element to the reader's owner, after the turn.
    default void handOver(R element) {}

    /// Drops an element whose reader has left.
    default void drop(R element) {}
  }

  private final Turns turns;
  private final int tier;
  private final CoreSubscriber<? super R> actual;
  private final Passage<T, R> passage;
  private final boolean single;
  /// Whether it waits while the recording is full.
  private final boolean waits;
  private final Queue<R> ready = new ConcurrentLinkedQueue<>();
  private final SerialLoop emission = new SerialLoop(this::emitReady, this::failed);
  // Used in turns
  private final List<R> sent = new ArrayList<>();
  private @Nullable Subscription upstream;
  private long flow;
  private long early;
  /// Whether the tier has ended the stream.
  private boolean over;
  private @Nullable Throwable failure;

  /// Whether the end of the stream may be emitted.
  private volatile boolean isLast;
  private volatile @Nullable Throwable error;
  private volatile boolean cancelled;
  /// Whether the reader of an answer wants it.
  private volatile boolean wanted;
  private boolean ended;

  private final WithheldDemand demand;
  private volatile @Nullable RoomWait beginning;

  private TurnStream(Turns turns, int tier, CoreSubscriber<? super R> actual, Passage<T, R> passage, boolean single,
      boolean waits) {
    this.turns = turns;
    this.tier = tier;
    this.actual = actual;
    this.passage = passage;
    this.single = single;
    this.waits = waits;
    this.demand = new WithheldDemand(turns, this::requestNow);
  }

  static <T, R> Flux<R> flux(Turns turns, int tier, LongFunction<RecordedEvent> cause,
      Supplier<? extends Publisher<T>> source, Passage<T, R> passage) {
    return Flux.from(reader -> new TurnStream<>(turns, tier, Operators.toCoreSubscriber(reader), passage, false, true)
        .start(cause, source));
  }

  /// The same for a tier's answer, which is asked for at once.
  static <T, R> Mono<R> mono(Turns turns, int tier, LongFunction<RecordedEvent> cause,
      Supplier<? extends Publisher<T>> source, Passage<T, R> passage) {
    return mono(turns, tier, cause, source, passage, true);
  }

  private static <T, R> Mono<R> mono(Turns turns, int tier, LongFunction<RecordedEvent> cause,
      Supplier<? extends Publisher<T>> source, Passage<T, R> passage, boolean waits) {
    return Mono.fromDirect(Flux.from(
        reader -> new TurnStream<>(turns, tier, Operators.toCoreSubscriber(reader), passage, true, waits)
            .start(cause, source)));
  }

  /// The end of a tier, which does not wait for room in the recording.
  static Mono<Void> end(Turns turns, int tier, LongFunction<RecordedEvent> cause, Supplier<Mono<Void>> source) {
    return mono(turns, tier, cause, source, (flow, nothing) -> nothing, false);
  }

  /// An answer that is recorded and passed on.
  static <T> Mono<T> answer(Turns turns, int tier, LongFunction<RecordedEvent> cause,
      Supplier<? extends Publisher<T>> source, BiFunction<RecordedEvent, T, RecordedEvent> fact, Kind kind) {
    return mono(turns, tier, cause, source, (flow, element) -> {
      turns.add(fact.apply(RecordedEvent.of(kind, flow).ofTier(tier), element));
      return element;
    });
  }

  private void start(LongFunction<RecordedEvent> cause, Supplier<? extends Publisher<T>> source) {
    actual.onSubscribe(this);
    if (waits && turns.isFull()) {
      RoomWait wait = new RoomWait(turns, () -> begin(cause, source));
      beginning = wait;
      wait.run();
      if (cancelled) {
        wait.cancel();
      }
    } else {
      begin(cause, source);
    }
  }

  private void begin(LongFunction<RecordedEvent> cause, Supplier<? extends Publisher<T>> source) {
    turns.runIf(() -> {
      if (cancelled) {
        return null;
      }
      flow = turns.newFlow();
      return cause.apply(flow).ofTier(tier);
    }, () -> source.get().subscribe(this));
    long[] kept = new long[1];
    turns.runIf(() -> {
      kept[0] = early;
      early = 0;
      return kept[0] == 0 || over || upstream == null ? null : event(Kind.REQUEST).with(kept[0]);
    }, () -> ask(kept[0]));
  }

  private void ask(long n) {
    Subscription asked = upstream;
    if (asked != null) {
      asked.request(n);
    }
  }

  private RecordedEvent event(Kind kind) {
    return RecordedEvent.of(kind, flow).ofTier(tier);
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  // The tier, in turns

  @Override
  public void onSubscribe(Subscription subscription) {
    upstream = subscription;
    if (single) {
      subscription.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(T element) {
    sent.add(passage.sent(flow, element));
    turns.signal(this);
  }

  @Override
  public void onError(Throwable thrown) {
    turns.add(event(Kind.FAILED).with(Errors.text(thrown)));
    failure = thrown;
    over = true;
    turns.signal(this);
  }

  @Override
  public void onComplete() {
    turns.add(event(Kind.ENDED));
    over = true;
    turns.signal(this);
  }

  @Override
  public void publish() {
    ready.addAll(sent);
    sent.clear();
    error = failure;
    isLast = over;
  }

  @Override
  public void emit() {
    emission.run();
  }

  // The reader

  @Override
  public void request(long n) {
    if (single && n > 0) {
      wanted = true;
      emission.run();
    } else {
      demand.request(n);
    }
  }

  private void requestNow(long n) {
    turns.runIf(() -> {
      if (over || cancelled) {
        return null;
      }
      if (upstream == null) { // the stream is about to begin
        early = n <= 0 || early < 0 ? -1 : Operators.addCap(early, n);
        return null;
      }
      return event(Kind.REQUEST).with(n);
    }, () -> ask(n));
  }

  @Override
  public void cancel() {
    cancelled = true;
    demand.cancel();
    RoomWait wait = beginning;
    if (wait != null) {
      wait.cancel();
    }
    turns.runIf(() -> over || upstream == null ? null : event(Kind.CANCEL), () -> {
      over = true;
      Subscription left = upstream;
      if (left != null) {
        left.cancel();
      }
    });
    emission.run();
  }

  /// Passes on what is ready, outside turns.
  private void emitReady() {
    while (!single || wanted || cancelled) {
      R next = ready.poll();
      if (next == null) {
        break;
      } else if (cancelled) {
        passage.drop(next);
      } else {
        passage.handOver(next);
        actual.onNext(next);
      }
    }
    if (isLast && !cancelled && !ended && ready.isEmpty()) {
      ended = true;
      Throwable why = error;
      if (why == null) {
        actual.onComplete();
      } else {
        actual.onError(why);
      }
    }
  }

  /// The reader threw.
  private void failed(Throwable thrown) {
    if (ended) {
      Uncaught.report(thrown);
    } else {
      ended = true;
      cancel();
      actual.onError(thrown);
    }
  }
}
