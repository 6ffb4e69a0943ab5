package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// Puts what comes from outside in an order: one turn after the other, whatever the threads. What a tier does in a turn
/// depends on the turns before and on nothing else, so the same turns in the same order give the same tier.
///
/// A turn is the whole work of one call inside the tier: its decision, the queues that it serves, the calls of stores
/// that it makes. Signals to readers of blocks leave after the turn, on the same thread, so none of them runs in a
/// turn; readers of events and listeners do, and must not call the tier. A call made inside a turn is part of it. Time
/// stands still in a turn.
public final class Turns {
  private final ReentrantLock lock = new ReentrantLock();
  private final LongSupplier nanos;
  private final Script script;
  private final PayloadKeeper payloads;
  private final AtomicLong namedFlows = new AtomicLong();
  private final AtomicLong links = new AtomicLong();
  // Used in turns
  private long now;
  private long flows;
  private List<Reader> due = new ArrayList<>();

  /// @param nanos clock of the tiers
  public Turns(LongSupplier nanos, Script script) {
    this.nanos = requireNonNull(nanos, "nanos");
    this.script = requireNonNull(script, "script");
    this.payloads = new PayloadKeeper(script);
  }

  /// A reader to which a turn sends something.
  interface Reader {
    /// Makes what the turn has sent ready to be emitted. At the end of the turn.
    void publish();

    /// Emits what is ready. Outside turns.
    void emit();
  }

  /// Work of a turn that has an answer.
  interface Work<T extends @Nullable Object> {
    T run();
  }

  /// Runs `work` as a turn that begins with the event of `cause`, or inside the turn of this thread.
  ///
  /// @param cause called in the turn
  void run(Supplier<RecordedEvent> cause, Runnable work) {
    call(cause, () -> {
      work.run();
      return true;
    });
  }

  /// Runs `work` as a turn unless `cause` finds that nothing happens.
  void runIf(Supplier<@Nullable RecordedEvent> cause, Runnable work) {
    lock.lock();
    try {
      RecordedEvent event = cause.get();
      if (event != null) {
        begin(event);
        work.run();
      }
    } finally {
      leave().forEach(Reader::emit);
    }
  }

  <T extends @Nullable Object> T call(Supplier<RecordedEvent> cause, Work<T> work) {
    lock.lock();
    try {
      begin(cause.get());
      return work.run();
    } finally {
      leave().forEach(Reader::emit);
    }
  }

  private void begin(RecordedEvent event) {
    if (lock.getHoldCount() == 1) {
      now = nanos.getAsLong();
      script.add(event.beginning(now));
    } else {
      script.add(event);
    }
  }

  /// Leaves the turn.
  ///
  /// @return the readers to be emitted to: those of the whole turn, if it has ended
  private List<Reader> leave() {
    List<Reader> readers = List.of();
    if (lock.getHoldCount() == 1 && !due.isEmpty()) {
      readers = due;
      due = new ArrayList<>();
      readers.forEach(Reader::publish);
    }
    lock.unlock();
    return readers;
  }

  /// Whether this thread is in a turn.
  boolean isInTurn() {
    return lock.isHeldByCurrentThread();
  }

  /// Adds a fact of the turn.
  ///
  /// @throws IllegalStateException outside a turn: something came into the tier that no recording would know of
  void add(RecordedEvent fact) {
    if (isTurn(fact)) {
      script.add(fact);
    }
  }

  /// Whether this thread is in a turn; else the recording must have ended.
  private boolean isTurn(Object what) {
    boolean turn = lock.isHeldByCurrentThread();
    if (!turn && !script.hasEnded()) {
      throw new IllegalStateException("a tier that is recorded must work in turns only (was outside, " + what + ")");
    }
    return turn;
  }

  PayloadKeeper payloads() {
    return payloads;
  }

  /// Whether the tiers' facts tell the checksums of bytes.
  boolean tellsChecksums() {
    return script.keepsPayloads();
  }

  /// Whether demand and calls from outside must wait, as the recording has little room. Never within a turn.
  boolean isFull() {
    return script.isFull() && !lock.isHeldByCurrentThread();
  }

  Disposable whenRoom(Runnable work) {
    return script.whenRoom(work);
  }

  /// Lets `reader` emit when the turn has ended.
  void signal(Reader reader) {
    if (isTurn("signal")) {
      due.add(reader);
    } else {
      reader.publish();
      reader.emit();
    }
  }

  /// Records a signal, as a turn of its own or within that of this thread.
  void signal(RecordedEvent signal) {
    run(() -> signal, () -> {});
  }

  /// Number of the next link, from 1.
  long newLink() {
    return links.incrementAndGet();
  }

  /// Number of the next named flow, negative: those of tiers are positive.
  long newNamedFlow() {
    return -namedFlows.incrementAndGet();
  }

  /// Runs `work`, which calls others, when the turn has ended; at once outside a turn.
  void afterwards(Runnable work) {
    if (!lock.isHeldByCurrentThread()) {
      work.run();
      return;
    }
    due.add(new Reader() {
      @Override
      public void publish() {
        // Nothing waits
      }

      @Override
      public void emit() {
        work.run();
      }
    });
  }

  /// Number of the next stream or handle. In a turn.
  long newFlow() {
    return isTurn("flow") ? ++flows : 0;
  }

  /// Time of the turn; outside a turn that of the clock.
  long now() {
    return lock.isHeldByCurrentThread() ? now : nanos.getAsLong();
  }

  /// The event that comes next in the recording that is played. In a turn.
  @Nullable RecordedEvent next() {
    return script.next();
  }

  boolean nextIs(Kind kind, long first) {
    RecordedEvent next = script.next();
    return next != null && !next.begins() && next.kind() == kind && next.size() > 0 && next.number(0) == first;
  }
}
