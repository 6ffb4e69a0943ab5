package io.penstock.disagg.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.Attempt.BlocksFailedException;
import io.penstock.disagg.request.FailurePolicy.Last;
import io.penstock.disagg.request.MoveFailure.BlocksReleasedException;
import io.penstock.disagg.request.MoveFailure.PeerRestartedException;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// One request on a receiving rank: its shards, their attempts, and the one end.
///
/// Each decision runs under this object's lock, and leaves actions that run after it.
final class Receiving extends TimerWheel.Timer {
  /// A receiver says so many times within a lease that it will still read.
  private static final int RENEWALS = 3;

  private final DecodeConnector owner;
  private final ReceiveOrder order;
  private final Consumer<Received> emit;
  private final List<ShardRun> runs;
  private final long endNanos;

  @GuardedBy("this") private final BlockOutcomes.Tally outcomes = new BlockOutcomes.Tally();
  /// Acknowledgements of attempts that have ended without their blocks.
  @GuardedBy("this") private final List<Mono<Void>> drains = new ArrayList<>(0);
  @GuardedBy("this") private @Nullable Ending ending;
  @GuardedBy("this") private @Nullable AuxData aux;
  @GuardedBy("this") private @Nullable Throwable cause;
  @GuardedBy("this") private int retries;
  @GuardedBy("this") private long renewedNanos;

  /// A shard that has blocks.
  private static final class ShardRun {
    final Shard shard;
    int attempts;
    /// The attempt under way; null between two of them, and at the end.
    @Nullable Attempt current;
    /// [RequestState#SUCCESS], [RequestState#FAILED], or neither.
    RequestState state = RequestState.BOOTSTRAPPING;
    /// How the request ended at the source, if a renewal came too late.
    @Nullable Release released;

    ShardRun(Shard shard) {
      this.shard = shard;
    }

    boolean isOver() {
      return state.isFinal();
    }
  }

  Receiving(DecodeConnector owner, ReceiveOrder order, Consumer<Received> emit) {
    this.owner = owner;
    this.order = order;
    this.emit = emit;
    this.runs = order.shards().stream().filter(shard -> !shard.blocks().isEmpty()).map(ShardRun::new).toList();
    this.renewedNanos = owner.now();
    this.endNanos = renewedNanos + order.deadline().toNanos();
  }

  String request() {
    return order.request();
  }

  long now() {
    return owner.now();
  }

  void stale() {
    owner.stale();
  }

  void start() {
    order.releases().forEach(rank -> owner.tell(rank, request(), Signal.Kind.DONE, 1));
    order.shards().stream().filter(shard -> shard.blocks().isEmpty())
        .forEach(shard -> owner.tell(shard.source(), request(), Signal.Kind.DONE, shard.readers()));
    List<Runnable> after = new ArrayList<>();
    long moment;
    synchronized (this) {
      if (ending == null) { // not cancelled before it began
        begin(after);
      }
      moment = moment(now());
    }
    owner.wheel().add(this, moment);
    after.forEach(Runnable::run);
  }

  @GuardedBy("this") private void begin(List<Runnable> after) {
    if (runs.isEmpty()) {
      finish(Ending.NOTHING_TO_MOVE, after);
    } else {
      runs.forEach(run -> attempt(run, after));
    }
  }

  @GuardedBy("this") private void attempt(ShardRun run, List<Runnable> after) {
    run.attempts++;
    Attempt attempt = new Attempt(this, run.shard, run.attempts);
    run.current = attempt;
    after.add(attempt::start);
  }

  void aux(Attempt attempt, AuxData data) {
    synchronized (this) {
      if (!attempt.isOver()) {
        aux = data;
      }
    }
  }

  void completed(Attempt attempt) {
    BlocksFailedException incomplete = attempt.blocksFailed();
    if (incomplete != null) {
      failed(attempt, incomplete);
      return;
    }
    List<Runnable> after = new ArrayList<>(4);
    synchronized (this) {
      succeeded(attempt, after);
    }
    after.forEach(Runnable::run);
  }

  @GuardedBy("this") private void succeeded(Attempt attempt, List<Runnable> after) {
    ShardRun run = run(attempt);
    if (run == null) {
      owner.late();
      return;
    }
    run.state = RequestState.SUCCESS;
    outcomes.add(run.shard.blocks(), BlockOutcome.HIT);
    after.add(() -> owner.tell(run.shard.source(), request(), Signal.Kind.DONE, run.shard.readers()));
    finishIfComplete(after);
  }

  void failed(Attempt attempt, Throwable error) {
    List<Runnable> after = new ArrayList<>(4);
    synchronized (this) {
      failed(attempt, error, after);
    }
    after.forEach(Runnable::run);
  }

  @GuardedBy("this") private void failed(Attempt attempt, Throwable error, List<Runnable> after) {
    ShardRun run = run(attempt);
    if (run == null) {
      return; // the attempt was stopped, and this is how it says so
    }
    Mono<Void> drained = attempt.drained();
    drains.add(drained);
    after.add(attempt::stop);
    boolean again = run.released == null && error instanceof TransientKvException
        && run.attempts <= order.policy().retries();
    after.add(() -> owner.follow(drained, () -> drained(run, drained, again)));
    if (!again) {
      fail(run, error, after);
    }
  }

  /// Closes `attempt` and finds its shard; null if the attempt was over.
  @GuardedBy("this") private @Nullable ShardRun run(Attempt attempt) {
    if (ending != null || !attempt.close()) {
      return null;
    }
    ShardRun run = runs.stream().filter(each -> attempt.equals(each.current)).findFirst().orElseThrow();
    run.current = null;
    return run;
  }

  private void drained(ShardRun run, Mono<Void> drained, boolean again) {
    boolean waits;
    synchronized (this) {
      drains.remove(drained);
      waits = again && ending == null;
    }
    if (waits) {
      owner.after(owner.pause(order.policy(), run.attempts), () -> again(run));
    }
  }

  private void again(ShardRun run) {
    List<Runnable> after = new ArrayList<>(2);
    synchronized (this) {
      if (ending == null) {
        retries++;
        after.add(() -> renew(run));
        attempt(run, after);
      }
    }
    if (!after.isEmpty()) {
      owner.retried();
      owner.wheel().add(this, now());
    }
    after.forEach(Runnable::run);
  }

  /// Renews all leases: they may be about to expire.
  void renewNow() {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      if (ending == null) {
        renewAll(now(), after);
      }
    }
    after.forEach(Runnable::run);
  }

  @GuardedBy("this") private void renewAll(long now, List<Runnable> after) {
    renewedNanos = now;
    runs.stream().filter(run -> !run.isOver()).forEach(run -> after.add(() -> renew(run)));
  }

  private void renew(ShardRun run) {
    owner.renew(run.shard.source(), request(), run.shard.readers(), release -> released(run, release));
  }

  /// The source has given up the blocks of `run`: no further attempt finds them. An attempt that has bytes already goes
  /// on, for reads that have begun come to their end.
  private void released(ShardRun run, Release release) {
    List<Runnable> after = new ArrayList<>(4);
    synchronized (this) {
      run.released = release;
      Attempt current = run.current;
      if (current != null && current.state() != RequestState.TRANSFERRING) {
        failed(current, new BlocksReleasedException(run.shard.source(), release), after);
      }
    }
    after.forEach(Runnable::run);
  }

  @GuardedBy("this") private void fail(ShardRun run, Throwable error, List<Runnable> after) {
    run.state = RequestState.FAILED;
    cause = cause == null ? error : cause;
    if (error instanceof BlocksFailedException some) {
      outcomes.add(run.shard.blocks(), BlockOutcome.HIT);
      outcomes.add(some.blocks());
    } else {
      outcomes.add(run.shard.blocks(), BlockOutcome.of(error));
    }
    if (order.policy().last() == Last.FAIL) {
      finish(Ending.FAILED, after);
    } else {
      finishIfComplete(after);
    }
  }

  @GuardedBy("this") private void finishIfComplete(List<Runnable> after) {
    if (!runs.stream().allMatch(ShardRun::isOver)) {
      return;
    }
    RequestState state = RequestState.ofGroup(runs.stream().map(run -> run.state).toList());
    if (state == RequestState.SUCCESS && order.wantsAux() && aux == null) {
      cause = new AuxData.AuxMissingException(request());
      finish(Ending.FAILED, after);
    } else {
      finish(state == RequestState.SUCCESS ? Ending.READY : Ending.RECOMPUTE, after);
    }
  }

  /// The client left.
  void cancel() {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      if (ending == null) {
        finish(Ending.CANCELLED, after);
      }
    }
    after.forEach(Runnable::run);
  }

  /// The process of a source is gone.
  void gone(Incarnation source) {
    List<Attempt> lost;
    synchronized (this) {
      lost =
          runs.stream().map(run -> run.current).filter(each -> each != null && each.source().equals(source)).toList();
    }
    lost.forEach(attempt -> failed(attempt, new PeerRestartedException(source)));
  }

  @GuardedBy("this") private void finish(Ending how, List<Runnable> after) {
    ending = how;
    List<Incarnation> untold = runs.stream().filter(run -> run.state != RequestState.SUCCESS)
        .map(run -> run.shard.source()).toList();
    for (ShardRun run : runs) {
      stop(run, after);
    }
    Received end = new Received(request(), how, outcomes.outcomes(), how.state() == RequestState.SUCCESS ? aux : null,
        retries, cause);
    Mono<Void> drained = Mono.when(List.copyOf(drains));
    after.add(() -> owner.wheel().remove(this));
    after.add(() -> owner.finish(order, end, untold, drained, emit));
  }

  @GuardedBy("this") private void stop(ShardRun run, List<Runnable> after) {
    Attempt current = run.current;
    run.current = null;
    if (run.isOver()) {
      return;
    }
    run.state = RequestState.FAILED;
    outcomes.add(run.shard.blocks(),
        cause instanceof DeadlineException ? BlockOutcome.TIMEOUT : BlockOutcome.CANCELLED);
    if (current != null && current.close()) {
      after.add(current::stop);
      drains.add(current.drained());
    }
  }

  @Override
  long due(long now) {
    List<Runnable> after = new ArrayList<>();
    long moment;
    synchronized (this) {
      if (ending == null) {
        look(now, after);
      }
      moment = moment(now);
    }
    after.forEach(Runnable::run);
    return moment;
  }

  @GuardedBy("this") private void look(long now, List<Runnable> after) {
    if (now >= endNanos) {
      cause = cause == null ? new DeadlineException(request(), order.deadline()) : cause;
      finish(order.policy().last() == Last.FAIL ? Ending.FAILED : Ending.RECOMPUTE, after);
      return;
    }
    for (Attempt attempt : running()) {
      if (attempt.leftNanos(now, owner.options()) <= 0) {
        after.add(() -> failed(attempt, attempt.timeout(owner.options())));
      }
    }
    if (now - renewedNanos >= renewalNanos()) {
      renewAll(now, after);
    }
  }

  @GuardedBy("this") private List<Attempt> running() {
    List<Attempt> running = new ArrayList<>(runs.size());
    for (ShardRun run : runs) {
      if (run.current != null) {
        running.add(run.current);
      }
    }
    return running;
  }

  private long renewalNanos() {
    return owner.options().lease().life().toNanos() / RENEWALS;
  }

  /// The next moment at which this has something to do.
  @GuardedBy("this") private long moment(long now) {
    if (ending != null) {
      return TimerWheel.NEVER;
    }
    long next = Math.min(endNanos, renewedNanos + renewalNanos());
    for (Attempt attempt : running()) {
      next = Math.min(next, now + Math.max(0, attempt.leftNanos(now, owner.options())));
    }
    return next;
  }

  /// The state of the request: the least of its shards.
  synchronized RequestState state() {
    if (ending != null) {
      return ending.state();
    }
    return RequestState.ofGroup(runs.stream().map(Receiving::state).toList());
  }

  private static RequestState state(ShardRun run) {
    Attempt current = run.current;
    return current == null || run.isOver() ? run.state : current.state();
  }

  /// A request had to end by its deadline.
  static final class DeadlineException extends TransientKvException {
    DeadlineException(String request, Duration deadline) {
      super("request " + request + " must end within " + deadline.toMillis() + " ms (did not)");
    }
  }
}
