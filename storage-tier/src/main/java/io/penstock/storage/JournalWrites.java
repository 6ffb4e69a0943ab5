package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.tier.Rest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.MonoSink;

/// All that the appending thread of a journal does: batches that were put, rests that were closed, the end.
final class JournalWrites {
  /// Tasks that no caller asked for: a sweep that waits, one that runs while another is asked for, the close.
  static final int OWN_TASKS = 3;

  private final JournalLog log;
  private final Executor appending;
  private final WorkLine puts;
  private final ConcurrentLinkedQueue<DeadRecord> freed = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sweepAsked = new AtomicBoolean();
  private volatile boolean closed;

  /// @param puts left by each task that entered it
  JournalWrites(JournalLog log, Executor appending, WorkLine puts) {
    this.log = log;
    this.appending = appending;
    this.puts = puts;
  }

  /// Appends `batch`, whose blocks stay the caller's.
  void put(List<Block> batch, MonoSink<List<Rest>> sink) {
    appending.execute(() -> append(batch, sink));
  }

  private void append(List<Block> batch, MonoSink<List<Rest>> sink) {
    List<Rest> rests;
    try {
      rests = List.copyOf(log.append(batch));
    } catch (Throwable e) { // whoever waits must hear of it, whatever it is
      puts.leave();
      sink.error(e);
      return;
    }
    puts.leave();
    sink.success(rests);
  }

  /// A rest was closed. Any thread.
  void free(DeadRecord dead) {
    if (!closed) {
      freed.add(dead);
      askForSweep();
    }
  }

  /// A sync has ended: what waited for it may go. Any thread.
  void synced() {
    if (!closed && log.waitsForSync()) {
      askForSweep();
    }
  }

  private void askForSweep() {
    if (sweepAsked.compareAndSet(false, true)) {
      appending.execute(this::sweep);
    }
  }

  private void sweep() {
    sweepAsked.set(false);
    if (!closed) {
      List<DeadRecord> dead = new ArrayList<>();
      for (DeadRecord each = freed.poll(); each != null; each = freed.poll()) {
        dead.add(each);
      }
      log.sweep(dead);
    }
  }

  /// Marks all that is dead on the disk.
  void settle(MonoSink<Void> sink) {
    appending.execute(() -> {
      sweep();
      KvException failure = log.settle();
      puts.leave();
      if (failure == null) {
        sink.success();
      } else {
        sink.error(failure);
      }
    });
  }

  /// Marks what it can, syncs and then runs `last`; nothing comes after it. What the disk refuses comes back at the next opening.
  void end(Runnable last) {
    appending.execute(() -> {
      sweep();
      log.settle();
      log.close();
      closed = true;
      last.run();
    });
  }
}
