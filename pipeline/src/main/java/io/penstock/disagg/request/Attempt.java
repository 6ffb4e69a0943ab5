package io.penstock.disagg.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.MoveFailure.MoveTimeoutException;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// One attempt to move one shard. Once it is over, in any way, none of its bytes may land.
final class Attempt implements MoveTicket {
  private final Receiving receiving;
  private final Shard shard;
  private final int number;
  private final AtomicBoolean over = new AtomicBoolean();
  private final Disposable.Swap moving = Disposables.swap();

  private volatile RequestState state = RequestState.BOOTSTRAPPING;
  private volatile long sinceNanos;

  @GuardedBy("this") private BlockOutcomes.@Nullable Tally failed;
  @GuardedBy("this") private @Nullable BlockOutcome worst;

  Attempt(Receiving receiving, Shard shard, int number) {
    this.receiving = receiving;
    this.shard = shard;
    this.number = number;
    this.sinceNanos = receiving.now();
  }

  void start() {
    if (!over.get()) {
      moving.update(Mono.defer(() -> shard.mover().move(this)).subscribe(nothing -> {},
          error -> receiving.failed(this, error), () -> receiving.completed(this)));
    }
  }

  /// Closes the ticket; false if it was closed.
  boolean close() {
    return over.compareAndSet(false, true);
  }

  /// Stops the move of a closed ticket.
  void stop() {
    moving.dispose();
  }

  /// Completes when the stopped move touches no memory any more.
  Mono<Void> drained() {
    return Mono.defer(() -> shard.mover().drained(this)).onErrorComplete().cache();
  }

  /// Time that this attempt may still stay in its state; 0 or less if it should have left it.
  long leftNanos(long now, LifecycleOptions options) {
    return sinceNanos + options.patience().in(state).toNanos() - now;
  }

  MoveTimeoutException timeout(LifecycleOptions options) {
    return new MoveTimeoutException(source(), state, options.patience().in(state));
  }

  RequestState state() {
    return state;
  }

  /// Outcomes of single blocks that failed, and the error that stands for them; null if none failed.
  @Nullable BlocksFailedException blocksFailed() {
    synchronized (this) {
      return failed == null || worst == null ? null : new BlocksFailedException(failed.outcomes(), worst);
    }
  }

  private void advance(RequestState update) {
    sinceNanos = receiving.now();
    state = state.after(update);
  }

  @Override
  public String request() {
    return receiving.request();
  }

  @Override
  public Incarnation source() {
    return shard.source();
  }

  @Override
  public GroupBlocks blocks() {
    return shard.blocks();
  }

  @Override
  public int attempt() {
    return number;
  }

  @Override
  public boolean admits(long generation) {
    boolean admitted = generation == shard.source().generation() && !over.get();
    if (!admitted) {
      receiving.stale();
    }
    return admitted;
  }

  @Override
  public void accepted() {
    advance(RequestState.WAITING_FOR_INPUT);
  }

  @Override
  public void landed(long bytes) {
    advance(RequestState.TRANSFERRING);
  }

  @Override
  public synchronized void failed(int group, int position, BlockOutcome outcome) {
    if (failed == null) {
      failed = new BlockOutcomes.Tally();
    }
    failed.add(group, position, outcome);
    worst = worst == null ? outcome : worst.worse(outcome);
  }

  @Override
  public void aux(AuxData data) {
    receiving.aux(this, data.requireOf(request()));
  }

  boolean isOver() {
    return over.get();
  }

  /// Some blocks of a shard failed to come, and the others came.
  static final class BlocksFailedException extends TransientKvException {
    private final BlockOutcomes blocks;
    private final BlockOutcome worst;

    BlocksFailedException(BlockOutcomes blocks, BlockOutcome worst) {
      super("blocks of a shard must all come (" + blocks.counts() + " did not)");
      this.blocks = blocks;
      this.worst = worst;
    }

    BlockOutcomes blocks() {
      return blocks;
    }

    BlockOutcome worst() {
      return worst;
    }
  }
}
