package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.disagg.request.Signal;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The requests that a prefill rank keeps, recorded: each call, signal, timer and release of memory is a turn, and what
/// the rank made of it are facts.
public final class RecordedRequests implements RequestInputs {
  private final Turns turns;
  private final int number;
  private final String name;
  private final RequestInputs inputs;
  private LongSupplier clock = () -> 0;
  // Used in turns
  private long now;

  /// @param number of the connector in the recording
  /// @param name of its rank
  public RecordedRequests(Turns turns, int number, String name) {
    this(turns, number, name, RequestInputs.direct());
  }

  RecordedRequests(Turns turns, int number, String name, RequestInputs inputs) {
    this.turns = requireNonNull(turns, "turns");
    this.number = number;
    this.name = requireNonNull(name, "name");
    this.inputs = requireNonNull(inputs, "inputs");
  }

  private RecordedEvent event(Kind kind) {
    return RecordedEvent.of(kind, 0).ofTier(number);
  }

  private <T extends @Nullable Object> T turn(Supplier<RecordedEvent> event, Supplier<T> work) {
    return turns.call(() -> {
      now = clock.getAsLong();
      return event.get();
    }, work::get);
  }

  private RecordedEvent about(Kind kind, String request) {
    return event(kind).with(now).with(request);
  }

  @Override
  public void begin(LifecycleOptions options, LongSupplier timers, Consumer<String> look) {
    clock = timers;
    turns.signal(event(Kind.REQUESTS).with(RequestWords.numbers(options)).with(name));
    inputs.begin(options, timers, look);
  }

  @Override
  public long nanos(LongSupplier timers) {
    return turns.isInTurn() ? now : timers.getAsLong();
  }

  @Override
  public <T extends @Nullable Object> T open(String request, Set<RankId> receivers, Supplier<T> work) {
    return turn(() -> event(Kind.REQUEST_OPEN).with(now).with(RequestWords.of(request, receivers)), work);
  }

  @Override
  public <T extends @Nullable Object> T hear(Signal signal, Supplier<T> work) {
    return turn(() -> event(Kind.REQUEST_SIGNAL)
        .with(now, signal.kind().ordinal(), signal.readers(), signal.from().rank().rank(), signal.from().generation())
        .with(RequestWords.of(signal.request(), signal.from().rank().instance())), work);
  }

  @Override
  public void moved(String request, Runnable work) {
    turn(() -> about(Kind.REQUEST_MOVED, request), () -> {
      work.run();
      return true;
    });
  }

  @Override
  public <T extends @Nullable Object> T withdraw(String request, Supplier<T> work) {
    return turn(() -> about(Kind.REQUEST_WITHDRAW, request), work);
  }

  @Override
  public long look(String request, LongSupplier work) {
    return turn(() -> about(Kind.REQUEST_LOOK, request), work::getAsLong);
  }

  @Override
  public void freed(String request, Runnable work) {
    turn(() -> about(Kind.REQUEST_FREED, request), () -> {
      work.run();
      return true;
    });
  }

  @Override
  public boolean areSame(HeldBlocks one, HeldBlocks other) {
    boolean same = inputs.areSame(one, other);
    turns.add(event(Kind.REQUEST_SAME).with(same ? 1 : 0));
    return same;
  }

  @Override
  public void answered(String request, RequestAnswer answer) {
    Release release = answer.release();
    turns.add(event(Kind.REQUEST_ANSWER)
        .with(answer.outcome().ordinal(), release == null ? -1 : release.ordinal()).with(request));
  }

  @Override
  public void released(String request, Release release) {
    turns.add(event(Kind.REQUEST_RELEASED).with(release.ordinal()).with(request));
  }

  @Override
  public void afterwards(Runnable work) {
    turns.afterwards(work);
  }
}
