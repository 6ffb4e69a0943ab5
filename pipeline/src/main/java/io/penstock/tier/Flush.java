package io.penstock.tier;

import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One wait of a caller of [TierStack#flush]: until the blocks that move to a disk, and the commits that are written
/// through, have arrived there. A flush starts no move. It does not wait for a disk that takes no blocks, because no
/// block moves to such a disk. Used in decisions only, unless a method says otherwise.
final class Flush {
  private final StackState state;
  private final Sinks.Empty<Void> over = Sinks.empty();
  /// Blocks that were moving when the flush began.
  private final List<Resident> chosen;
  /// Index into `chosen`: the blocks before it have arrived already.
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

  /// Ends the wait.
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

  /// Completes [#over] if all blocks have arrived; called when a move may have ended. Outside a decision.
  void signal() {
    if (state.look(() -> closed || (state.offloads().isEmpty() && haveArrived()))) {
      over.tryEmitEmpty();
    }
  }

  /// Resumes at `next`, so that all calls together look at each block about once.
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

  /// Whether `block` belongs on a disk that does not have it.
  private boolean lacksDisk(Resident block) {
    return block.isRemoved() || (!block.isReleased() && IntStream.range(0, state.shape().levels().size())
        .anyMatch(level -> state.shape().isDisk(level) && state.mover().lacks(block, level)));
  }

  /// How many of the chosen blocks have not arrived. Outside a decision.
  int missed() {
    return state.look(() -> closed ? missed : count());
  }

  private int count() {
    return (int) chosen.stream().filter(this::lacksDisk).count();
  }

  /// Ends the wait because the stack is about to close: queued moves will not start.
  void close(DeferredActions after) {
    missed = count();
    closed = true;
    after.then(this::signal);
  }
}
