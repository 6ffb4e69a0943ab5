package io.penstock.stack.move;

import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackShape;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The waits of callers until blocks have arrived on a disk, and what they wait for. Used in decisions only, unless a
/// method says otherwise.
public final class Flushes {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final OffloadQueue offloads;
  private final Placement placement;
  private final List<Flush> waits = new CopyOnWriteArrayList<>();

  public Flushes(Decisions decisions, StackShape shape, StackIndex index, OffloadQueue offloads, Placement placement) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.offloads = offloads;
    this.placement = placement;
  }

  /// Begins a wait for the blocks that move to a disk now. Outside a decision.
  public Flush begin() {
    return decisions.look(() -> {
      Flush flush = new Flush();
      waits.add(flush);
      return flush;
    });
  }

  /// Lets every wait look whether it is over. Outside a decision.
  public void signal() {
    for (Flush flush : waits) {
      DeferredActions.attempt(flush::signal);
    }
  }

  /// Ends every wait, because the stack is about to close.
  public void close(DeferredActions after) {
    waits.forEach(flush -> flush.close(after));
  }

  private boolean isMovingToDisk(Resident block) {
    Resident.Wait wait = block.currentWait();
    return !block.isRemoved() && (block.isMoving() || (wait != null && shape.isDisk(wait.target())))
        && lacksDisk(block);
  }

  /// Whether `block` belongs on a disk that does not have it.
  private boolean lacksDisk(Resident block) {
    return block.isRemoved() || (!block.isReleased() && IntStream.range(0, shape.levels().size())
        .anyMatch(level -> shape.isDisk(level) && placement.lacks(block, level)));
  }

  /// One wait of a caller of `TierStack.flush`: until the blocks that move to a disk, and the commits that are written
  /// through, have arrived there. A flush starts no move. It does not wait for a disk that takes no blocks, because no
  /// block moves to such a disk. Used in decisions only, unless a method says otherwise.
  public final class Flush {
    private final Sinks.Empty<Void> over = Sinks.empty();
    /// Blocks that were moving when the flush began.
    private final List<Resident> chosen = index.residents(Flushes.this::isMovingToDisk);
    /// Index into `chosen`: the blocks before it have arrived already.
    private int next;
    private int missed;
    private boolean closed = decisions.isClosed();

    private Flush() {}

    /// Ends the wait. Outside a decision.
    public void leave() {
      waits.remove(this);
    }

    /// Completes when nothing moves to a disk, or when the stack closes. Outside a decision.
    public Mono<Void> over() {
      return Mono.defer(() -> {
        signal();
        return over.asMono();
      });
    }

    /// Completes [#over] if all blocks have arrived. Outside a decision.
    private void signal() {
      if (decisions.look(() -> closed || (offloads.isEmpty() && haveArrived()))) {
        over.tryEmitEmpty();
      }
    }

    /// Resumes at `next`, so that all calls together look at each block about once.
    private boolean haveArrived() {
      while (next < chosen.size() && !isMovingToDisk(chosen.get(next))) {
        next++;
      }
      return next == chosen.size() && chosen.stream().noneMatch(Flushes.this::isMovingToDisk); // a disk may work again
    }

    /// Number of chosen blocks that have not arrived. Outside a decision.
    public int missed() {
      return decisions.look(() -> closed ? missed : count());
    }

    private int count() {
      return (int) chosen.stream().filter(Flushes.this::lacksDisk).count();
    }

    /// Ends the wait because the stack is about to close: queued moves will not start.
    private void close(DeferredActions after) {
      missed = count();
      closed = true;
      after.then(this::signal);
    }
  }
}
