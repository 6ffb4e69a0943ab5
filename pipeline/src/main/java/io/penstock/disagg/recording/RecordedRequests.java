package io.penstock.disagg.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.disagg.request.Signal;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedMachine;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The requests that a prefill rank keeps, recorded: each call, signal, timer and release of memory is a turn, and what
/// the rank made of it are facts.
public final class RecordedRequests implements RequestInputs {
  private final RecordedMachine machine;
  private final String name;
  private final RequestInputs inputs;
  private LongSupplier clock = () -> 0;
  // Used in turns
  private long now;

  /// @param machine number of the connector in a recording
  /// @param name of its rank
  public RecordedRequests(RecordedMachine machine, String name) {
    this(machine, name, RequestInputs.direct());
  }

  RecordedRequests(RecordedMachine machine, String name, RequestInputs inputs) {
    this.machine = requireNonNull(machine, "machine");
    this.name = requireNonNull(name, "name");
    this.inputs = requireNonNull(inputs, "inputs");
  }

  private <T extends @Nullable Object> T turn(Supplier<RecordedEvent> event, Supplier<T> work) {
    return machine.turn(() -> {
      now = clock.getAsLong();
      return event.get();
    }, work);
  }

  private RecordedEvent about(Kind kind, String request) {
    return machine.event(kind, request, now);
  }

  @Override
  public void begin(LifecycleOptions options, LongSupplier timers, Consumer<String> look) {
    clock = timers;
    machine.turn(() -> machine.event(Kind.REQUESTS, name, RequestWords.numbers(options)), () -> true);
    inputs.begin(options, timers, look);
  }

  @Override
  public long nanos(LongSupplier timers) {
    return machine.isInTurn() ? now : timers.getAsLong();
  }

  @Override
  public <T extends @Nullable Object> T open(String request, Set<RankId> receivers, Supplier<T> work) {
    return turn(() -> machine.event(Kind.REQUEST_OPEN, RequestWords.of(request, receivers), now), work);
  }

  @Override
  public <T extends @Nullable Object> T hear(Signal signal, Supplier<T> work) {
    return turn(
        () -> machine.event(Kind.REQUEST_SIGNAL, RequestWords.of(signal.request(), signal.from().rank().instance()),
            now, signal.kind().ordinal(), signal.readers(), signal.from().rank().rank(), signal.from().generation()),
        work);
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
    machine.fact(machine.event(Kind.REQUEST_SAME, "", same ? 1 : 0));
    return same;
  }

  @Override
  public void answered(String request, RequestAnswer answer) {
    Release release = answer.release();
    machine.fact(machine.event(Kind.REQUEST_ANSWER, request, answer.outcome().ordinal(),
        release == null ? -1 : release.ordinal()));
  }

  @Override
  public void released(String request, Release release) {
    machine.fact(machine.event(Kind.REQUEST_RELEASED, request, release.ordinal()));
  }

  @Override
  public void afterwards(Runnable work) {
    machine.afterwards(work);
  }
}
