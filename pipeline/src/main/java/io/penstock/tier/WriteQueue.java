package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.operator.Trampoline;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What a [TierStack] puts to one store: one batch at a time, in the order of asking. So a store needs room for one put
/// of each stack, and refuses no second one as busy.
///
/// A batch takes as many waiting writes as fit, and divides none. The queue is bounded by host memory, because each
/// write in it holds blocks there. If a block turns out to be damaged, its write fails and the others are tried again.
/// A batch that finds the store busy goes back to the front until the store has room. Any other error fails all writes
/// of the batch. Used in decisions only, but for [#start].
final class WriteQueue {
  /// Blocks to be put together. Ends with exactly one call of [#done] or [#failed]. Used in decisions only.
  interface Write {
    /// What is put, open until the end; none if it is not needed any more.
    List<Block> blocks();

    /// @param stored one for each block, now the write's
    void done(List<StoredBlock> stored, DeferredActions after);

    /// @param error of the store, or [TierClosedException]
    void failed(Throwable error, DeferredActions after);
  }

  /// A write that is part of the batch under way.
  private record Part(Write write, int blocks) {}

  private final StackState state;
  private final BlockStore store;
  private final Trampoline starts = new Trampoline(this::startBatch);
  private final ArrayDeque<Write> waiting = new ArrayDeque<>();
  /// The batch under way, less the writes that were failed already.
  private List<Part> batch = List.of();
  private boolean writing;
  /// Whether the store said that it is busy, and has not said since that it has room.
  private boolean busy;
  /// Why the store takes no blocks now; null if it takes them.
  private @Nullable StoreUnavailableException refusal;

  WriteQueue(StackState state, BlockStore store) {
    this.state = state;
    this.store = store;
  }

  void add(Write write, DeferredActions after) {
    if (state.isClosed()) {
      write.failed(state.shape().closed(), after);
    } else if (refusal != null) {
      write.failed(refusal, after);
    } else {
      waiting.add(write);
      after.then(starts::run);
    }
  }

  /// Has `write`, which was tried, be the next one.
  private void addFirst(Write write, DeferredActions after) {
    if (refusal != null) {
      write.failed(refusal, after);
    } else {
      waiting.addFirst(write);
    }
  }

  /// The store takes blocks again.
  void admit() {
    refusal = null;
  }

  /// Fails the writes that wait and those to come, because the store takes no blocks now.
  ///
  /// @param underWay fails those of the batch under way, too; the store keeps their memory until it answers
  void refuse(StoreUnavailableException why, boolean underWay, DeferredActions after) {
    List<Write> failed = new ArrayList<>();
    if (underWay) {
      batch.forEach(part -> failed.add(part.write()));
      batch = List.of();
    }
    failed.addAll(waiting);
    waiting.clear();
    refusal = why;
    failed.forEach(write -> write.failed(why, after));
  }

  /// Fails the writes that wait, because the stack has closed.
  void close(DeferredActions after) {
    List<Write> failed = List.copyOf(waiting);
    waiting.clear();
    failed.forEach(write -> write.failed(state.shape().closed(), after));
  }

  /// Starts a batch if the store is free for one. Outside a decision.
  void start() {
    starts.run();
  }

  private void startBatch() {
    List<Block> shares = state.answer(this::nextBatch);
    if (!shares.isEmpty()) {
      put(shares).subscribe(stored -> done(shares, stored), error -> failed(shares, error));
    }
  }

  /// Makes the next batch of what waits.
  ///
  /// @return shares of its blocks; none if there is nothing to put now
  private List<Block> nextBatch(DeferredActions after) {
    List<Part> parts = new ArrayList<>();
    List<Block> shares = new ArrayList<>();
    while (!writing && !busy && !waiting.isEmpty()) {
      List<Block> blocks = waiting.element().blocks();
      if (!shares.isEmpty() && shares.size() + blocks.size() > state.shape().options().batchBlocks()) {
        break;
      }
      Write write = waiting.remove();
      if (blocks.isEmpty()) {
        write.done(List.of(), after);
      } else {
        blocks.forEach(block -> shares.add(block.share()));
        parts.add(new Part(write, blocks.size()));
      }
    }
    if (!shares.isEmpty()) {
      writing = true;
      batch = parts;
    }
    return shares;
  }

  /// Ends with a stored block for each block, or with an error, whatever the store does.
  private Mono<List<StoredBlock>> put(List<Block> blocks) {
    return Mono.defer(() -> store.put(blocks)).switchIfEmpty(Mono.error(() -> new IllegalStateException(
        "store " + store.name() + " must answer stored blocks (was empty)"))).map(stored -> {
          if (stored.size() != blocks.size()) {
            stored.forEach(StoredBlock::close);
            throw new IllegalStateException("store %s must answer a stored block for each of %d blocks (was %d)"
                .formatted(store.name(), blocks.size(), stored.size()));
          }
          return stored;
        });
  }

  private void done(List<Block> shares, List<StoredBlock> stored) {
    state.decide(after -> {
      List<Part> parts = end(shares, after);
      int next = 0;
      if (parts.isEmpty()) { // all its writes were failed meanwhile
        stored.forEach(after::close);
      }
      for (Part part : parts) {
        part.write().done(List.copyOf(stored.subList(next, next + part.blocks())), after);
        next += part.blocks();
      }
    });
  }

  private void failed(List<Block> shares, Throwable error) {
    state.decide(after -> {
      List<Part> parts = end(shares, after).reversed();
      if (error instanceof StoreBusyException refused && !state.isClosed()) {
        busy = true;
        parts.forEach(part -> addFirst(part.write(), after));
        after.then(() -> refused.room().subscribe(nothing -> {}, e -> roomAgain(), this::roomAgain));
      } else {
        Part damaged = damaged(parts.reversed(), shares, error);
        parts.forEach(part -> failed(part, damaged, error, after));
      }
    });
  }

  private void failed(Part part, @Nullable Part damaged, Throwable error, DeferredActions after) {
    if (damaged == null || part.equals(damaged)) {
      part.write().failed(error, after);
    } else if (state.isClosed()) {
      part.write().failed(state.shape().closed(), after);
    } else {
      addFirst(part.write(), after);
    }
  }

  private void roomAgain() {
    state.decide(after -> busy = false);
    starts.run();
  }

  /// Ends the batch under way: the store is free for the next one.
  ///
  /// @return its writes that have yet to hear how it ended
  private List<Part> end(List<Block> shares, DeferredActions after) {
    List<Part> parts = batch;
    batch = List.of();
    writing = false;
    shares.forEach(after::close);
    after.then(starts::run);
    return parts;
  }

  /// The write whose block `error` names as damaged; null if it names none.
  private static @Nullable Part damaged(List<Part> parts, List<Block> shares, Throwable error) {
    if (error instanceof BlockCorruptException corrupt) {
      int next = 0;
      for (Part part : parts) {
        for (Block share : shares.subList(next, next += part.blocks())) {
          if (share.key().equals(corrupt.key())) {
            return part;
          }
        }
      }
    }
    return null;
  }
}
