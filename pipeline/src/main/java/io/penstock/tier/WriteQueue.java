package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.operator.SerialLoop;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Blocks that a [TierStack] writes to one store: in the order of asking, one batch at a time. So a store needs room
/// for one put of each stack, and never refuses the second put of a stack as busy.
///
/// A batch takes as many waiting writes as fit, each whole. Host memory bounds the queue, because each queued write
/// holds blocks there. If a block is damaged, its write fails and the other writes of the batch are tried again. A
/// batch that finds the store busy goes back to the front of the queue until the store has room. Any other error fails
/// all writes of the batch. Used in decisions only, except [#start].
final class WriteQueue {
  /// Blocks that are written together. Each write ends with one call of [#done] or [#failed]. Used in decisions only.
  interface Write {
    /// The blocks, open until the write ends; none if the write is not needed any more.
    List<Block> blocks();

    /// @param stored one for each block; this write owns them now
    void done(List<StoredBlock> stored, DeferredActions after);

    /// @param error of the store, or [TierClosedException]
    void failed(Throwable error, DeferredActions after);
  }

  /// A write of the batch under way.
  private record Part(Write write, int blocks) {}

  private final StackState state;
  private final BlockStore store;
  private final SerialLoop starts = new SerialLoop(this::startBatch);
  private final ArrayDeque<Write> waiting = new ArrayDeque<>();
  /// The batch under way, without the writes that have failed already.
  private List<Part> batch = List.of();
  private boolean writing;
  /// Whether the store refused a batch as busy and has not had room since.
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

  /// Puts `write`, which was tried, at the front of the queue.
  private void addFirst(Write write, DeferredActions after) {
    if (refusal != null) {
      write.failed(refusal, after);
    } else {
      waiting.addFirst(write);
    }
  }

  /// Accepts writes again, because the store takes blocks again.
  void admit() {
    refusal = null;
  }

  /// Fails the queued writes and later ones, because the store takes no blocks now.
  ///
  /// @param underWay whether to fail the batch under way, too; the store keeps its memory until it answers
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

  /// Fails the queued writes, because the stack has closed.
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

  /// Makes the next batch of queued writes.
  ///
  /// @return shares of its blocks; none if no batch can start now
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

  /// Writes `blocks`. Ends with a stored block for each block, or with an error, whatever the store does.
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
      if (parts.isEmpty()) { // all writes of the batch have failed meanwhile
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
  /// @return the writes of the batch that have not ended yet
  private List<Part> end(List<Block> shares, DeferredActions after) {
    List<Part> parts = batch;
    batch = List.of();
    writing = false;
    shares.forEach(after::close);
    after.then(starts::run);
    return parts;
  }

  /// The write whose block `error` names as damaged; null if `error` names no block.
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
