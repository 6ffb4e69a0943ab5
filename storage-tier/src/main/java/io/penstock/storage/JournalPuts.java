package io.penstock.storage;

import io.penstock.block.Block;
import io.penstock.block.SpaceId;
import io.penstock.storage.engine.StorageFullException;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import reactor.core.publisher.Mono;

/// The puts of a journal: as many as are accepted, and none while the disk takes nothing. Safe from any thread.
final class JournalPuts {
  private final SpaceId space;
  private final DiskHealth health;
  private final JournalWrites writes;
  private final AcceptedWork accepted;

  /// @param accepted that `writes` leaves
  JournalPuts(SpaceId space, DiskHealth health, JournalWrites writes, AcceptedWork accepted) {
    this.space = space;
    this.health = health;
    this.writes = writes;
    this.accepted = accepted;
  }

  /// As in [JournalStore#put].
  Mono<List<StoredBlock>> put(List<Block> blocks) {
    List<Block> batch = List.copyOf(blocks);
    for (Block block : batch) {
      if (!block.key().space().equals(space)) {
        throw new IllegalArgumentException("block must be of space " + space + " (was " + block.key() + ")");
      }
    }
    return Mono.<List<StoredBlock>>create(sink -> {
      if (!health.health().state().takes()) {
        sink.error(health.unavailable());
      } else if (accepted.enteredBy(sink)) {
        writes.put(batch, sink);
        if (!health.health().state().takes()) { // since then
          writes.refuse(health.unavailable());
        }
      }
    }).doOnError(StorageFullException.class, health::putFailed).doOnDiscard(List.class, JournalPuts::closeAll);
  }

  /// The subscriber did not take what a put stored.
  private static void closeAll(List<?> storedBlocks) {
    for (Object stored : storedBlocks) {
      if (stored instanceof StoredRecord own) {
        own.close();
      }
    }
  }

  /// As in [JournalStore#settled].
  Mono<Void> settled() {
    return Mono.create(sink -> {
      if (accepted.enteredBy(sink)) {
        writes.settle(sink);
      }
    });
  }
}
