package io.penstock.tier;

import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One wait until the blocks that a [TierStack] moves to its disks, and the commits that it writes through, have
/// arrived there. It starts no move, and waits for no disk that takes no blocks, because nothing moves to such a disk.
/// Used in decisions only, unless a method says otherwise.
final class Flush {
  private final StackState state;
  private final Sinks.Empty<Void> over = Sinks.empty();
  /// Blocks that were moving when it began.
  private final List<Resident> chosen;
  /// Blocks before it had arrived when they were looked at.
  private int next;
  private int missed;
  private boolean closed;

  private Flush(StackState state) {
    this.state = state;
    this.closed = state.isClosed();
    this.chosen = state.index().residents(this::isMovingToDisk);
  }

  /// Begins a wait. Outside a decision.
  static Flush begin(StackState state) {
    return state.look(() -> {
      Flush flush = new Flush(state);
      state.flushes().add(flush);
      return flush;
    });
  }

  /// Waits no more.
  void leave() {
    state.flushes().remove(this);
  }

  /// Completes when nothing moves to a disk, or when the stack closes. Outside a decision.
  Mono<Void> over() {
    return Mono.defer(() -> {
      signal();
      return over.asMono();
    });
  }

  /// Some move may have ended. Outside a decision.
  void signal() {
    if (state.look(() -> closed || (state.offloads().isEmpty() && haveArrived()))) {
      over.tryEmitEmpty();
    }
  }

  /// Looks at each block about once, though it is asked again and again.
  private boolean haveArrived() {
    while (next < chosen.size() && !isMovingToDisk(chosen.get(next))) {
      next++;
    }
    return next == chosen.size() && chosen.stream().noneMatch(this::isMovingToDisk); // a disk may work again
  }

  private boolean isMovingToDisk(Resident block) {
    MoveQueue.Wait wait = block.currentWait();
    return !block.isRemoved() && (block.isMoving() || (wait != null && state.shape().isDisk(wait.target())))
        && lacksDisk(block);
  }

  /// Whether a disk that is to have `block` does not have it.
  private boolean lacksDisk(Resident block) {
    return block.isRemoved() || (!block.isReleased() && IntStream.range(0, state.shape().levels().size())
        .anyMatch(level -> state.shape().isDisk(level) && state.mover().lacks(block, level)));
  }

  /// How many of the blocks have not arrived. Outside a decision.
  int missed() {
    return state.look(() -> closed ? missed : count());
  }

  private int count() {
    return (int) chosen.stream().filter(this::lacksDisk).count();
  }

  /// The stack is about to close, and no move that waits goes on.
  void close(DeferredActions after) {
    missed = count();
    closed = true;
    after.then(this::signal);
  }
}
