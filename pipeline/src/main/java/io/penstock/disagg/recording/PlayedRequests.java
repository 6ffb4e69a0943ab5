package io.penstock.disagg.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.disagg.request.Signal;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedMachine;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The requests of a prefill rank, played: calls, signals, timers and releases of memory come as they were recorded.
public final class PlayedRequests implements RecordedMachine.Played {
  private final RecordedMachine machine;
  private final PrefillConnector connector;
  private final Map<String, Sinks.Empty<Void>> held = new HashMap<>();
  private Consumer<String> look = request -> {};
  private long now;

  /// @param begin the event of kind `REQUESTS`
  public PlayedRequests(RecordedEvent begin, RecordedMachine machine) {
    this.machine = requireNonNull(machine, "machine");
    this.connector = new PrefillConnector(RequestWords.options(begin), LifecycleListener.noop(), new Still(),
        new RecordedRequests(machine, begin.text(), new Inputs()));
  }

  @Override
  public void give(RecordedEvent event) {
    now = event.number(0);
    String request = RequestWords.request(event);
    switch (event.kind()) {
      case REQUEST_OPEN -> open(request, RequestWords.ranks(event));
      case REQUEST_SIGNAL -> connector.accept(signal(request, event)).subscribe();
      case REQUEST_MOVED -> connector.moved(request);
      case REQUEST_WITHDRAW -> connector.withdraw(request);
      case REQUEST_LOOK -> look.accept(request);
      case REQUEST_FREED -> requireNonNull(held.remove(request), "held blocks").tryEmitEmpty();
      default -> throw new IllegalStateException("event must be an input of requests (was " + event + ")");
    }
  }

  private void open(String request, Set<RankId> receivers) {
    try {
      if (receivers.isEmpty()) {
        connector.open(request, blocks(request));
      } else {
        connector.open(request, receivers, blocks(request));
      }
    } catch (IllegalArgumentException e) {
      // The one who asked was told so; what the connector made of it is compared
    }
  }

  private static Signal signal(String request, RecordedEvent event) {
    return new Signal(Signal.Kind.values()[Math.toIntExact(event.number(1))], request,
        new RankId(RequestWords.more(event), Math.toIntExact(event.number(3))).since(event.number(4)),
        Math.toIntExact(event.number(2)));
  }

  /// Blocks that are free when the recording says so.
  private HeldBlocks blocks(String request) {
    return () -> Mono.defer(() -> {
      Sinks.Empty<Void> free = Sinks.empty();
      held.put(request, free);
      return free.asMono();
    });
  }

  private final class Inputs implements RequestInputs {
    @Override
    public void begin(LifecycleOptions options, LongSupplier clock, Consumer<String> looks) {
      look = looks;
    }

    @Override
    public boolean areSame(HeldBlocks one, HeldBlocks other) {
      RecordedEvent next = machine.next();
      return next != null && next.kind() == Kind.REQUEST_SAME && next.number(0) == 1;
    }
  }

  /// A clock that shows the recorded time. Its timers never run: the recording has when they did.
  ///
  /// It has no workers. A connector takes the time and sets timers, which need none; an operator that asks for a worker
  /// would run work that the recording does not order, and must fail at once.
  private final class Still implements Scheduler {
    @Override
    public Disposable schedule(Runnable task) {
      return Disposables.disposed();
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      return Disposables.disposed();
    }

    @Override
    public long now(TimeUnit unit) {
      return unit.convert(now, TimeUnit.NANOSECONDS);
    }

    @Override
    public Worker createWorker() {
      Disposable ended = Disposables.single();
      return new Worker() {
        @Override
        public Disposable schedule(Runnable task) {
          return Still.this.schedule(task);
        }

        @Override
        public void dispose() {
          ended.dispose();
        }

        @Override
        public boolean isDisposed() {
          return ended.isDisposed();
        }
      };
    }
  }
}
