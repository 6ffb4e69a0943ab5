package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Owned;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.Quarantine;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.DiskHealth;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Copies damaged bytes to the quarantine on a thread that reads, one range at a time. A pin keeps the segment of a
/// waiting range. No caller waits. Safe from any thread.
final class DamageCopies {
  private static final Logger LOG = Loggers.getLogger(DamageCopies.class);
  private static final int MOST_WAITING = 1_024;

  private final SegmentEngine engine;
  private final @Nullable Quarantine quarantine;
  private final int mostBytes;
  private final Executor reading;
  private final DiskHealth health;
  private final String boundary;
  private final AcceptedWork steps = new AcceptedWork("journal", "steps", 1);
  @GuardedBy("this") private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  @GuardedBy("this") private boolean copying;
  @GuardedBy("this") private long unkept;
  @GuardedBy("this") private @Nullable RuntimeException failure;

  private record Waiting(Damage damage, Owned pin) {}

  /// @param mostBytes of a range that are kept, from its beginning
  DamageCopies(SegmentEngine engine, QuarantineBound bound, int mostBytes, Executor reading, DiskHealth health,
      String boundary) {
    this.engine = engine;
    this.quarantine = engine.directory() == null ? null : new Quarantine(engine.directory(), bound);
    this.mostBytes = mostBytes;
    this.reading = reading;
    this.health = health;
    this.boundary = boundary;
  }

  /// Queues the bytes of `damage`.
  void add(Damage damage) {
    Quarantine to = quarantine;
    if (to != null && isFirst(damage)) {
      reading.execute(() -> step(to));
    }
  }

  private synchronized boolean isFirst(Damage damage) {
    if (steps.isClosed()) {
      return false;
    }
    if (waiting.size() == MOST_WAITING) {
      unkept++;
      return false;
    }
    try {
      waiting.add(new Waiting(damage, engine.pin(damage.segment())));
    } catch (UnknownLocationException | EngineClosedException e) {
      return false; // the segment is gone
    }
    boolean isFirst = !copying;
    copying = true;
    return isFirst;
  }

  private void step(Quarantine to) {
    if (!steps.tryEnter()) {
      return;
    }
    Waiting next = next();
    try {
      if (next != null) { // else the copies were closed meanwhile
        copy(next, to);
      }
    } finally {
      steps.leave();
      if (isLeft()) {
        reading.execute(() -> step(to));
      }
    }
  }

  private synchronized @Nullable Waiting next() {
    return waiting.poll();
  }

  private synchronized boolean isLeft() {
    copying = !waiting.isEmpty();
    return copying;
  }

  private void copy(Waiting next, Quarantine to) {
    Damage damage = next.damage();
    int slot = health.enterSlow();
    try (Arena arena = Arena.ofConfined(); Owned _ = next.pin()) {
      int length = (int) Math.min(damage.length(), mostBytes);
      MemorySegment bytes = arena.allocate(length);
      engine.readOnce(new Location(damage.segment(), damage.offset(), length), 0, bytes);
      to.keep(bytes, damage);
      LOG.warn("{}: {} in segment {} at {} is damaged, and set aside: {}", boundary,
          damage.key() == null ? "a record" : "block " + damage.key(), damage.segment(), damage.offset(),
          damage.reason()); // the bound of the quarantine bounds these lines
    } catch (RuntimeException e) {
      failed(e);
    } finally {
      health.leave(slot);
    }
  }

  private synchronized void failed(RuntimeException e) {
    unkept++;
    failure = e;
  }

  /// Damaged ranges that are not kept: the queue or the quarantine was full, or the disk failed.
  synchronized long unkept() {
    return unkept;
  }

  /// The newest failure; null if there is none.
  synchronized @Nullable RuntimeException failure() {
    return failure;
  }

  /// Drops the queue, and accepts nothing more.
  ///
  /// @return completes when no copy is in progress
  synchronized Mono<Void> close() {
    waiting.forEach(each -> each.pin().close());
    waiting.clear();
    return steps.close();
  }
}
