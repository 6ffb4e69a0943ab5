package io.penstock.device.sidecar;

import io.penstock.block.Owned;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// Work in pieces that are hardly longer than the way to another thread. Hands make them, and so does whoever reads a
/// connection and would wait: a call that was just read is begun by the thread that read it, while a hand is being
/// woken for the rest.
///
/// Pieces are taken in the order they came. As many as were accepted: each is part of a copy that was counted.
final class ShortWork {
  /// A hand that has made so many pieces goes to the end of its line: regions are opened there.
  private static final int PIECES_A_TURN = 16;

  /// What has to be done before one who waits hears of it.
  private static final class Call {
    private final MonoSink<Void> sink;
    private final Owned held;
    private final AtomicInteger open;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    Call(MonoSink<Void> sink, Owned held, int open) {
      this.sink = sink;
      this.held = held;
      this.open = new AtomicInteger(open);
    }

    void ended(@Nullable Throwable why) {
      failure.compareAndSet(null, why);
      if (open.decrementAndGet() > 0) {
        return;
      }
      held.close();
      Throwable first = failure.get();
      if (first == null) {
        sink.success();
      } else {
        sink.error(first);
      }
    }
  }

  private record Piece(Runnable work, Call call) {
    /// Whatever it throws is its result.
    void run() {
      Throwable why = null;
      try {
        work.run();
      } catch (Throwable e) {
        why = e;
      }
      call.ended(why);
    }
  }

  private final Scheduler hands;
  private final int most;
  private final Queue<Piece> pieces = new ConcurrentLinkedQueue<>();
  private final Map<Thread, Reader> readers = new ConcurrentHashMap<>();
  /// Threads that are at it: each goes on until it has found no piece after it had left.
  private final AtomicInteger busy = new AtomicInteger();

  /// @param hands a few threads that may wait
  /// @param most threads that are worth having at it
  ShortWork(Scheduler hands, int most) {
    this.hands = hands;
    this.most = most;
  }

  /// Ends when every task has ended, with the first error of any.
  ///
  /// @param tasks at least one, each done to its end, also after a cancel
  /// @param held closed when all have ended, before the result is sent
  Mono<Void> on(List<Runnable> tasks, Owned held) {
    return Mono.create(sink -> {
      Call whole = new Call(sink, held, tasks.size());
      tasks.forEach(task -> add(new Piece(task, whole)));
    });
  }

  private void add(Piece piece) {
    pieces.add(piece);
    try {
      call();
    } catch (Throwable e) { // no thread; who took it meanwhile ends it
      if (pieces.remove(piece)) {
        piece.call.ended(e);
      }
      makeAll(); // those that came meanwhile found enough threads, of which this one was to be one
    }
  }

  /// Has one more thread at it, if that is worth it: this one rather than another.
  private void call() {
    Reader reader = readers.get(Thread.currentThread());
    if (entered() && (reader == null || !reader.begins())) {
      handGoesOn();
    }
  }

  private boolean entered() {
    return busy.getAndUpdate(now -> now < most ? now + 1 : now) < most;
  }

  /// False if there is something to do, and this thread is still at it.
  private boolean left() {
    busy.decrementAndGet();
    return pieces.isEmpty() || !entered(); // who came meanwhile may have found enough threads
  }

  /// After whatever else the hand has in its line.
  private void handGoesOn() {
    AtomicBoolean begun = new AtomicBoolean();
    try {
      hands.schedule(() -> {
        if (!begun.getAndSet(true)) {
          handMakesSome();
        }
      });
    } catch (Throwable e) { // no thread; a task that stays in line does nothing
      if (!begun.getAndSet(true)) {
        busy.decrementAndGet();
        throw e;
      }
    }
  }

  private void handMakesSome() {
    for (int made = 0; made < PIECES_A_TURN && !pieces.isEmpty(); made++) {
      makeOne();
    }
    if (pieces.isEmpty() && left()) {
      return;
    }
    try {
      handGoesOn();
    } catch (Throwable e) { // no thread: this one stays
      makeAll();
    }
  }

  private void makeOne() {
    Piece next = pieces.poll();
    if (next != null) {
      next.run();
    }
  }

  private void makeAll() {
    while (!pieces.isEmpty()) {
      makeOne();
    }
  }

  /// Runs `reading` on this thread.
  ///
  /// @param reading gets what it must call each time before it waits: makes a piece, if this thread is to; true if it
  ///     is to make another
  void read(Consumer<BooleanSupplier> reading) {
    Reader reader = new Reader();
    Thread thread = Thread.currentThread();
    readers.put(thread, reader);
    try {
      reading.accept(reader);
    } finally {
      readers.remove(thread);
      reader.end();
    }
  }

  /// A thread that reads, and is at it now and then. Its own thread's.
  private final class Reader implements BooleanSupplier {
    private boolean isBusy;

    /// False if it has begun already.
    boolean begins() {
      boolean wasBusy = isBusy;
      isBusy = true;
      return !wasBusy;
    }

    @Override
    public boolean getAsBoolean() {
      if (isBusy) {
        makeOne();
        isBusy = !pieces.isEmpty() || !left();
      }
      return isBusy;
    }

    /// Others may keep the line full: a thread that is to go leaves what it was at to a hand.
    void end() {
      if (isBusy && (!pieces.isEmpty() || !left())) {
        try {
          handGoesOn();
        } catch (Throwable e) { // no thread: this one stays
          makeAll();
        }
      }
      isBusy = false;
    }
  }
}
