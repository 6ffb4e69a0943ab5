package io.penstock.stack.move;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.operator.SerialLoop;
import io.penstock.operator.SerialLoop;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.spi.StoreBusyException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// Blocks that a `TierStack` reads from one store to move them: in the order of asking, one batch at a time. A batch
/// that finds the store busy goes back to the front of the queue until the store has room. A block that was written
/// again while it was read keeps the new bytes. Used in decisions only, except [#start].
public final class ReadQueue {
  /// The read of one block into host memory, where the block stays or passes through.
  private record Read(Resident block, StoreCopy copy, BlockDraft draft, boolean toHost) {}

  private final Decisions decisions;
  private final StackShape shape;
  private final StackHistory history;
  private final StoreSlots slots;
  private final StoreFailures failures;
  private final int level;
  private final SerialLoop starts = new SerialLoop(this::startBatch);
  private final ArrayDeque<Read> waiting = new ArrayDeque<>();
  private boolean reading;
  /// Whether the store refused a batch as busy and has not had room since.
  private boolean busy;

  ReadQueue(Decisions decisions, StackShape shape, StackHistory history, StoreSlots slots, StoreFailures failures,
      int level) {
    this.decisions = decisions;
    this.shape = shape;
    this.history = history;
    this.slots = slots;
    this.failures = failures;
    this.level = level;
  }

  /// Queues the read of `block` into `draft`.
  void add(Resident block, BlockDraft draft, boolean toHost, DeferredActions after) {
    block.startMove();
    StoreCopy copy = block.copy(level);
    copy.startRead();
    waiting.add(new Read(block, copy, draft, toHost));
    after.then(starts::run);
  }

  /// Gives up the queued reads: the store gives no blocks, or the stack has closed.
  void clear(DeferredActions after) {
    waiting.forEach(read -> giveBack(read, after));
    waiting.clear();
  }

  /// Starts a batch if the store is free for one. Outside a decision.
  void start() {
    starts.run();
  }

  private void startBatch() {
    List<Read> batch = decisions.answer(after -> nextBatch());
    if (!batch.isEmpty()) {
      GranuleRange all = GranuleRange.all(shape.layout());
      Mono.defer(() -> shape.store(level)
          .read(batch.stream().map(read -> read.copy().block()).toList(), drafts(batch), all))
          .subscribe(nothing -> {}, error -> failed(batch, error), () -> done(batch));
    }
  }

  private List<Read> nextBatch() {
    List<Read> batch = new ArrayList<>();
    while (!reading && !busy && batch.size() < shape.options().batchBlocks() && !waiting.isEmpty()) {
      batch.add(waiting.remove());
    }
    reading |= !batch.isEmpty();
    return batch;
  }

  private static List<BlockDraft> drafts(List<Read> batch) {
    return batch.stream().map(Read::draft).toList();
  }

  private void done(List<Read> batch) {
    List<Block> blocks;
    try {
      blocks = sealed(drafts(batch));
    } catch (RuntimeException | Error e) { // the store left something out
      failed(batch, e);
      return;
    }
    decisions.decide(after -> {
      int stayed = 0;
      for (int i = 0; i < blocks.size(); i++) {
        stayed += landed(batch.get(i), blocks.get(i), after) ? 1 : 0;
      }
      history.moved(level, shape.host(), stayed, after);
      end(after);
    });
  }

  /// Seals all drafts. If a draft cannot be sealed, closes the blocks sealed before.
  public static List<Block> sealed(List<BlockDraft> drafts) {
    List<Block> blocks = new ArrayList<>(drafts.size());
    try {
      drafts.forEach(draft -> blocks.add(draft.seal()));
      return blocks;
    } catch (RuntimeException | Error e) {
      blocks.forEach(Block::close);
      throw e;
    }
  }

  /// Whether the block stays on the host level.
  private boolean landed(Read read, Block bytes, DeferredActions after) {
    Resident block = read.block();
    boolean stays = read.toHost() && !block.isInMemory();
    if (block.isInMemory()) {
      after.close(bytes);
    } else {
      block.land(bytes, stays);
    }
    slots.endRead(level, read.copy(), after);
    block.endMove(after);
    return stays;
  }

  private void failed(List<Read> batch, Throwable error) {
    decisions.decide(after -> {
      if (error instanceof StoreBusyException refused && !decisions.isClosed()) {
        reading = false;
        busy = true;
        batch.reversed().forEach(waiting::addFirst);
        after.then(() -> refused.room().subscribe(nothing -> {}, e -> roomAgain(), this::roomAgain));
      } else {
        batch.forEach(read -> giveBack(read, after));
        failures.notGiven(batch.stream().map(Read::block).toList(), error, after);
        end(after);
      }
    });
  }

  private void giveBack(Read read, DeferredActions after) {
    after.close(read.draft());
    slots.endRead(level, read.copy(), after);
    read.block().endMove(after);
  }

  private void end(DeferredActions after) {
    reading = false;
    after.then(starts::run);
  }

  private void roomAgain() {
    decisions.decide(after -> busy = false);
    starts.run();
  }
}
