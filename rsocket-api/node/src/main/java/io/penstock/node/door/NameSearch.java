package io.penstock.node.door;

import io.penstock.block.BlockKey;
import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import io.penstock.node.text.Reason;
import io.penstock.operator.InTurn;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Finds the values that a tier has, by reading the blocks that may be their heads, at a bounded pace. It counts as no
/// use of them.
///
/// The newest blocks come first, because the head of a value is written last: so it is read before its parts, which
/// need no read then. Safe from any thread.
final class NameSearch {
  private static final Logger LOG = LoggerFactory.getLogger(NameSearch.class);
  /// Bytes of blocks that are read at once, but one block at least.
  private static final int BATCH_BYTES = 64 << 10;

  private final BlockTier tier;
  private final ValueStore store;
  private final long bytesPerSecond;
  private final long mostKeys;
  private final DoorTerms.Threads threads;

  /// @param bytesPerSecond pace of the reads
  /// @param mostKeys blocks that it looks at; it leaves out others
  NameSearch(BlockTier tier, ValueStore store, long bytesPerSecond, long mostKeys, DoorTerms.Threads threads) {
    this.tier = tier;
    this.store = store;
    this.bytesPerSecond = bytesPerSecond;
    this.mostKeys = mostKeys;
    this.threads = threads;
  }

  /// The values whose heads are there and not yet known.
  ///
  /// @param isKnown whether a block is known to be one of a value
  /// @param leftOut runs if there are blocks that the search does not look at
  /// @return cold; ends when all blocks were looked at, and never if a level gives no blocks now
  Flux<StoredValue> values(Predicate<BlockKey> isKnown, Runnable leftOut) {
    return tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance)
        .collect(Walk::new, Walk::apply)
        .doOnNext(walk -> {
          if (walk.isOver) {
            leftOut.run();
          }
        })
        .flatMapMany(walk -> InTurn.of(step(walk, isKnown).repeat(() -> !walk.keys.isEmpty()),
            walk.isWaiting ? Flux.never() : Flux.empty()))
        .subscribeOn(threads.decisions());
  }

  private Flux<StoredValue> step(Walk walk, Predicate<BlockKey> isKnown) {
    return Flux.defer(() -> {
      List<BlockKey> batch = walk.next(isKnown);
      return batch.isEmpty()
          ? Flux.empty()
          : InTurn.of(read(batch).doOnNext(walk::found), pause(batch.size()));
    });
  }

  private Flux<StoredValue> read(List<BlockKey> batch) {
    return store.heads(batch).onErrorResume(failure -> {
      if (batch.size() > 1) {
        return Flux.fromIterable(batch).concatMap(key -> read(List.of(key)), 1);
      }
      LOG.debug("a block has no name that could be read: {}", Reason.of(failure));
      return Flux.empty();
    });
  }

  private Flux<StoredValue> pause(int blocks) {
    long nanos = (long) ((double) blocks * blockBytes() / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
    return Mono.delay(Duration.ofNanos(nanos), threads.timers()).publishOn(threads.decisions()).ignoreElement()
        .cast(StoredValue.class).flux();
  }

  private int blockBytes() {
    return tier.info().space().layout().blockBytes();
  }

  /// The blocks that are still to be looked at. Used by one thread at a time.
  private final class Walk {
    private final List<BlockKey> keys = new ArrayList<>();
    private final Set<BlockKey> parts = new HashSet<>();
    private boolean isOver;
    /// Whether a level is down, whose blocks come with it.
    private boolean isWaiting;

    private void apply(TierEvent event) {
      switch (event) {
        case TierEvent.SnapshotStarted started -> {
          keys.clear();
          isWaiting = !started.down().isEmpty();
        }
        case TierEvent.Present present -> add(present.key());
        case TierEvent.Stored stored -> add(stored.key());
        default -> {
        }
      }
    }

    private void add(BlockKey key) {
      if (keys.size() < mostKeys) {
        keys.add(key);
      } else {
        isOver = true;
      }
    }

    private List<BlockKey> next(Predicate<BlockKey> isKnown) {
      List<BlockKey> batch = new ArrayList<>();
      while (!keys.isEmpty() && (batch.size() + 1) * (long) blockBytes() <= Math.max(BATCH_BYTES, blockBytes())) {
        BlockKey key = keys.removeLast();
        if (!parts.remove(key) && !isKnown.test(key) && !batch.contains(key)) {
          batch.add(key);
        }
      }
      return batch;
    }

    private void found(StoredValue value) {
      parts.addAll(value.partKeys());
    }
  }
}
