package io.penstock.storage;

import io.penstock.block.BlockDraft;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.storage.disk.DiskHealth;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Runs the reads of a journal, up to [JournalOptions.Bounds#maxWaitingReads()], and none while the disk is off. Safe
/// from any thread.
final class JournalReads {
  private final RangeReader reader;
  private final CacheSpace space;
  private final DiskHealth health;
  private final Executor threads;
  private final AcceptedWork accepted;
  private final Set<ReadJob> running = ConcurrentHashMap.newKeySet();

  JournalReads(RangeReader reader, CacheSpace space, JournalOptions options, DiskHealth health, Executor threads) {
    this.reader = reader;
    this.space = space;
    this.health = health;
    this.threads = threads;
    this.accepted = new AcceptedWork(options.name(), "reads", options.bounds().maxWaitingReads());
  }

  /// As in [JournalStore#read].
  Mono<Void> read(List<StoredRecord> storedBlocks, List<BlockDraft> drafts, GranuleRange range) {
    return Mono.create(sink -> {
      if (storedBlocks.isEmpty()) {
        sink.success();
      } else if (!health.health().state().gives()) {
        sink.error(health.unavailable());
      } else if (accepted.enteredBy(sink::error)) {
        begin(storedBlocks, drafts, range, sink);
      }
    });
  }

  private void begin(List<StoredRecord> storedBlocks, List<BlockDraft> drafts, GranuleRange range,
      MonoSink<Void> sink) {
    ReadJob job = new ReadJob(reader, storedBlocks, drafts, range, range.bytes(space.layout()), sink);
    running.add(job);
    job.start(threads, () -> {
      running.remove(job);
      accepted.leave();
    });
    if (!health.health().state().gives()) { // the state changed meanwhile
      job.refuse(health.unavailable());
    }
  }

  /// Fails all reads. A read that a thread runs ends with that thread.
  void refuse(StoreUnavailableException why) {
    running.forEach(job -> job.refuse(why));
  }

  int open() {
    return accepted.open();
  }

  /// As in [AcceptedWork#close].
  Mono<Void> close() {
    return accepted.close();
  }
}
