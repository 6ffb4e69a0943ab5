package io.penstock.storage;

import io.penstock.storage.engine.SegmentEngine;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What becomes of damage in a journal: of what its opening found, and readers find, which is set aside here, and the
/// scrub. Safe from any thread.
final class DamageSearch {
  private final SegmentEngine engine;
  private final PlaceTable places;
  private final LostRecords lost;
  private final JournalThreads threads;
  private final SettingAside aside;
  private final ReadDamage read;
  private final int unlisted;
  private volatile @Nullable Scrubber scrubber;

  /// @param dropped what the opening found in segments that are all there
  DamageSearch(SegmentEngine engine, PlaceTable places, LostRecords lost, JournalThreads threads,
      DroppedRecords dropped, ReadDamage read) {
    this.engine = engine;
    this.places = places;
    this.lost = lost;
    this.threads = threads;
    this.aside = new SettingAside(engine, lost, threads.reading(), dropped.records());
    this.read = read;
    this.unlisted = dropped.unlisted();
  }

  /// What the opening found is set aside from now on.
  void begin() {
    aside.begin();
  }

  /// @param records for the scrub alone
  /// @param busy as in [Scrubber], as is `freed`
  /// @throws IllegalStateException if that goes on already
  synchronized void scrub(ScrubOptions how, RecordMover records, BooleanSupplier busy, Consumer<DeadRecord> freed) {
    if (scrubber != null) {
      throw new IllegalStateException("a journal must be scrubbed once at a time (was scrubbed already)");
    }
    Scrubber begun = new Scrubber(engine, places, records, lost, how, threads, busy, freed);
    scrubber = begun;
    begun.start();
  }

  ScrubStat scrubbed() {
    Scrubber begun = scrubber;
    return begun == null ? new ScrubStat(0, 0, 0, 0, null) : begun.stat();
  }

  /// Why something that the opening found is not set aside; null if nothing is in the way.
  @Nullable RuntimeException unkept() {
    return aside.failure();
  }

  /// What readers find.
  ReadDamage read() {
    return read;
  }

  /// Damaged records, found by the opening or by readers, that are not set aside because there are too many, or the
  /// disk does not give them again.
  long untried() {
    return unlisted + read.unkept();
  }

  /// Begins nothing any more.
  ///
  /// @return completes when none of that is under way any more
  synchronized Mono<Void> close() {
    return Mono.when(aside.close(), read.close(), scrubber == null ? Mono.empty() : scrubber.close());
  }
}
