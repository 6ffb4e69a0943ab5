package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineClosedException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.UnknownLocationException;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What readers find damaged is read again, compared, and set aside as the scrub does it: a record at a time, on a
/// thread that reads, behind those who wait there. Its segment stays until then, whatever becomes of the block. One
/// that is whole when it is read again is left alone: it was memory that failed. Readers wait for nothing. Safe from
/// any thread.
final class ReadDamage {
  private static final int MOST_WAITING = 1_024;

  private final SegmentEngine engine;
  private final BlockLayout layout;
  private final String boundary;
  private final LostRecords lost;
  private final Executor reading;
  private final Consumer<DeadRecord> freed;
  private final Steps steps = new Steps();
  /// Guarded by `this`, as is the rest but for the mover.
  private final ArrayDeque<Found> waiting = new ArrayDeque<>();
  private @Nullable Found looking;
  private long damaged;
  private long unkept;
  private @Nullable RuntimeException failure;
  /// Of the step that runs.
  private @Nullable RecordMover mover;

  private record Found(int number, BlockKey key, Place place, Owned pin) {}

  /// @param freed hears of records that count no more
  ReadDamage(SegmentEngine engine, BlockLayout layout, String boundary, LostRecords lost, Executor reading,
      Consumer<DeadRecord> freed) {
    this.engine = engine;
    this.layout = layout;
    this.boundary = boundary;
    this.lost = lost;
    this.reading = reading;
    this.freed = freed;
  }

  /// The record of `rest` at `place` was not as it was written.
  void found(StoredRecord rest, Place place) {
    if (takes(rest, place)) {
      reading.execute(this::step);
    }
  }

  /// Whether a step is to be begun.
  private synchronized boolean takes(StoredRecord rest, Place place) {
    if (steps.isClosed() || lost.isTold(place) || isKnown(place)) {
      return false;
    }
    if (waiting.size() == MOST_WAITING) {
      untried(place);
      return false;
    }
    try {
      waiting.add(new Found(rest.number(), rest.key(), place, engine.pin(place.segment())));
    } catch (UnknownLocationException | EngineClosedException e) {
      return false; // nothing in it counted any more
    }
    return looking == null && waiting.size() == 1;
  }

  private boolean isKnown(Place place) {
    return (looking != null && looking.place().equals(place))
        || waiting.stream().anyMatch(each -> each.place().equals(place));
  }

  private void step() {
    if (!steps.begin()) {
      return;
    }
    try {
      Found next = next();
      if (next != null) { // else it was closed meanwhile
        step(next);
      }
    } finally {
      steps.ended(); // before anybody else may begin the next
      if (isLeft()) {
        reading.execute(this::step);
      }
    }
  }

  private void step(Found next) {
    try {
      look(next);
    } catch (EngineClosedException e) {
      stop();
    } catch (RuntimeException e) { // it is not given now, and its owner gives it up
      told(e);
      untried(next.place());
    } catch (Error e) { // no memory for a copy of it
      untried(next.place());
      throw e;
    } finally {
      next.pin().close();
    }
  }

  private synchronized @Nullable Found next() {
    looking = waiting.poll();
    return looking;
  }

  private synchronized boolean isLeft() {
    looking = null;
    return !waiting.isEmpty();
  }

  private void look(Found found) {
    RecordMover records = mover == null ? new RecordMover(engine::readOnce, layout, boundary) : mover;
    mover = records;
    Flaw flaw = records.read(found.place());
    if (flaw != null) {
      StorageFailedException notKept = lost.keep(found.key(), found.place(), records, flaw);
      if (notKept != null) {
        told(notKept);
      }
      if (lost.lose(found.number(), found.key(), found.place(), flaw, freed)) {
        counted();
      }
    }
  }

  private synchronized void counted() {
    damaged++;
  }

  private synchronized void untried(Place place) {
    if (lost.isNews(place)) {
      damaged++;
      unkept++;
    }
  }

  private synchronized void told(RuntimeException why) {
    failure = why;
  }

  /// Records that were found so, and by nobody else before.
  synchronized long damaged() {
    return damaged;
  }

  /// Of these, the ones that nobody came to look at again: too many waited, or the disk does not give them.
  synchronized long unkept() {
    return unkept;
  }

  /// The newest of one that could not be set aside; null if there is none.
  synchronized @Nullable RuntimeException failure() {
    return failure;
  }

  /// Gives up what waits, and takes nothing any more.
  ///
  /// @return completes when none is being set aside any more
  synchronized Mono<Void> close() {
    stop();
    return steps.close();
  }

  private synchronized void stop() {
    steps.stop();
    waiting.forEach(each -> each.pin().close());
    waiting.clear();
  }
}
