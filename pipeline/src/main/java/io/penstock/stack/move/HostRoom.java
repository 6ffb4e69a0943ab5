package io.penstock.stack.move;

import io.penstock.block.BlockKey;
import io.penstock.block.SlabPart;
import io.penstock.pool.share.SharedMemory;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackShape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// The room of the host level of a `TierStack`, which grows and shrinks if the level has a share of a [SharedMemory].
/// Used outside decisions.
public final class HostRoom implements SharedMemory.Member {
  /// Maximum number of runs that one request takes.
  private static final int MOST_RUNS = 64;
  /// Blocks evicted in one decision.
  private static final int STEP = 64;

  private final Decisions decisions;
  private final StackShape shape;
  private final StackMemory memory;
  private final StackIndex index;
  private final HostWatermarks watermarks;
  private final SharedMemory.@Nullable Share share;

  public HostRoom(Decisions decisions, StackShape shape, StackMemory memory, StackIndex index,
      HostWatermarks watermarks) {
    this.decisions = decisions;
    this.shape = shape;
    this.memory = memory;
    this.index = index;
    this.watermarks = watermarks;
    this.share = shape.host() >= 0 && shape.levels().get(shape.host()) instanceof StackLevel.Host host
        ? host.share()
        : null;
  }

  public void attach() {
    if (share != null) {
      share.attach(this);
    }
  }

  /// Takes memory until the level has room for so many more blocks, as far as the share gives it.
  ///
  /// @param blocks asked only of a level that has a share, under the lock of decisions
  public void want(IntSupplier blocks) {
    if (share != null) {
      for (int i = 0; i < MOST_RUNS && !decisions.isClosed() && lacks(blocks) && share.grow(); i++) {
      }
    }
  }

  /// The same for the blocks of `keys` that a lease may promote. Keys of no block take no memory from other spaces.
  public void wantFor(List<BlockKey> keys) {
    if (share != null) {
      int blocks = shape.options().exact() ? keys.size() : index.lookups().onSlowerLevels(keys);
      if (blocks > 0) {
        want(() -> blocks);
      }
    }
  }

  private boolean lacks(IntSupplier blocks) {
    return decisions.look(() -> {
      int more = blocks.getAsInt();
      return more > 0 && watermarks.wouldPass(more);
    });
  }

  @Override
  public SlabPart slots() {
    return memory.resident();
  }

  @Override
  public SlabPart.Run grow(MemorySegment memory, Runnable returned) {
    SlabPart.Run run = slots().borrow(memory, returned);
    decisions.decide(after -> index.resize(run.slots(), after));
    return run;
  }

  @Override
  public boolean canLeave(SlabPart.Run run) {
    List<BlockKey> keys = run.keys();
    return decisions.look(() -> keys.stream().noneMatch(index::isKept));
  }

  @Override
  public void giveUp(SlabPart.Run run) {
    run.retire();
    clear(run);
    decisions.decide(after -> index.resize(-run.slots(), after));
  }

  @Override
  public void clear(SlabPart.Run run) {
    List<BlockKey> keys = run.keys();
    for (int from = 0; from < keys.size(); from += STEP) {
      List<BlockKey> some = keys.subList(from, Math.min(keys.size(), from + STEP));
      decisions.decide(after -> some.forEach(key -> index.leave(key, run, after)));
    }
  }
}
