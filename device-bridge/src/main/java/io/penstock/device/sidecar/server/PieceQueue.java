package io.penstock.device.sidecar.server;

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

/// Runs short pieces of work, hardly longer than a hop to another thread. Workers run them, and so do threads that read
/// connections, before they would wait: the reading thread begins a call that it has just read while a worker wakes up
/// for the remainder.
///
/// Pieces run in order of arrival. The queue is bounded by accepted work: each piece is part of a counted copy.
final class PieceQueue {
  /// After this many pieces a worker queues up again: workers also open regions.
  private static final int PIECES_A_TURN = 16;

  /// All pieces of one call.
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
    /// An error that the piece throws is its result.
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

  private final Scheduler workers;
  private final int most;
  private final Queue<Piece> pieces = new ConcurrentLinkedQueue<>();
  private final Map<Thread, Reader> readers = new ConcurrentHashMap<>();
  /// Threads that run pieces: each goes on until it finds no piece after it has left.
  private final AtomicInteger busy = new AtomicInteger();

  /// @param workers a few threads that may wait
  /// @param most threads that may run pieces at a time
  PieceQueue(Scheduler workers, int most) {
    this.workers = workers;
    this.most = most;
  }

  /// Ends when every task has ended, with the first error of any.
  ///
  /// @param tasks at least one; each runs to its end, also after a cancel
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
    } catch (Throwable e) { // no thread; another one may have taken the piece meanwhile
      if (pieces.remove(piece)) {
        piece.call.ended(e);
      }
      runAll(); // pieces that came meanwhile counted on this thread
    }
  }

  /// Adds a thread where fewer than `most` run pieces: this one if it reads a connection, else a worker.
  private void call() {
    Reader reader = readers.get(Thread.currentThread());
    if (entered() && (reader == null || !reader.begins())) {
      scheduleWorker();
    }
  }

  private boolean entered() {
    return busy.getAndUpdate(now -> now < most ? now + 1 : now) < most;
  }

  /// Returns false if there is a piece, and this thread still runs pieces.
  private boolean left() {
    busy.decrementAndGet();
    return pieces.isEmpty() || !entered(); // a piece that came meanwhile may have counted on this thread
  }

  /// Schedules a worker behind the work that it already has.
  private void scheduleWorker() {
    AtomicBoolean begun = new AtomicBoolean();
    try {
      workers.schedule(() -> {
        if (!begun.getAndSet(true)) {
          runSome();
        }
      });
    } catch (Throwable e) { // no thread; a task that is still scheduled does nothing
      if (!begun.getAndSet(true)) {
        busy.decrementAndGet();
        throw e;
      }
    }
  }

  private void runSome() {
    for (int made = 0; made < PIECES_A_TURN && !pieces.isEmpty(); made++) {
      runOne();
    }
    if (pieces.isEmpty() && left()) {
      return;
    }
    try {
      scheduleWorker();
    } catch (Throwable e) { // no thread: this one stays
      runAll();
    }
  }

  private void runOne() {
    Piece next = pieces.poll();
    if (next != null) {
      next.run();
    }
  }

  private void runAll() {
    while (!pieces.isEmpty()) {
      runOne();
    }
  }

  /// Runs `reading` on this thread.
  ///
  /// @param reading must call its argument each time before it waits: the call runs a piece, if this thread is to, and
  ///     returns whether there is another
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

  /// A thread that reads a connection and runs pieces in between. For that thread alone.
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
        runOne();
        isBusy = !pieces.isEmpty() || !left();
      }
      return isBusy;
    }

    /// Other threads may keep the queue full: a thread that ends passes its place to a worker.
    void end() {
      if (isBusy && (!pieces.isEmpty() || !left())) {
        try {
          scheduleWorker();
        } catch (Throwable e) { // no thread: this one stays
          runAll();
        }
      }
      isBusy = false;
    }
  }
}
