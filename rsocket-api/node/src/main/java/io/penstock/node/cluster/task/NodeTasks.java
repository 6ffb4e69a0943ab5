package io.penstock.node.cluster.task;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.check.Checks;
import io.penstock.node.text.Reason;
import io.penstock.operator.TokenBucket;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierStat;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.cluster.TaskOrder.Kind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The tasks of a node. One that empties or levels the node excludes another such one; the others run side by side.
/// Each sends no faster than its order, or else the node, allows.
public final class NodeTasks implements ClusterTasks {
  private static final int BATCH = 64;
  /// Batches under way at a time: each waits for several answers of others.
  private static final int TOGETHER = 4;
  private static final int MOST_RUNNING = 8;
  private static final int KEPT = 32;
  /// Passes over the blocks of a node that drains; blocks may come while it runs.
  private static final int MOST_PASSES = 16;
  private static final Duration BETWEEN_PASSES = Duration.ofSeconds(1);
  /// Difference of fullness from the average that is left alone.
  private static final double LEVEL = 0.01;

  private final Terms terms;
  private final Supplier<List<OwnBlocks>> spaces;
  private final Consumer<Member.State> tell;
  private final Scheduler timers;
  private final Scheduler work;
  @GuardedBy("this") private final Deque<RunningTask> tasks = new ArrayDeque<>();
  @GuardedBy("this") private long started;

  /// @param node name of this node
  /// @param self whether a member is this node
  /// @param members that are there now
  /// @param bytesPerSecond most bytes that a task sends if its order does not say
  public record Terms(String node, Predicate<Member> self, Supplier<List<Member>> members, long bytesPerSecond) {
    public Terms {
      requireNonNull(members, "members");
      requireNonNull(node, "node");
      requireNonNull(self, "self");
      Checks.positive("bytesPerSecond", bytesPerSecond);
    }
  }

  /// @param spaces the blocks of each space that the node has now
  /// @param tell tells the cluster whether the node takes new blocks
  /// @param timers for pauses; never used for work
  /// @param work runs the steps of tasks
  public NodeTasks(Terms terms, Supplier<List<OwnBlocks>> spaces, Consumer<Member.State> tell,
      Scheduler timers, Scheduler work) {
    this.terms = terms;
    this.spaces = spaces;
    this.tell = tell;
    this.timers = timers;
    this.work = work;
  }

  @Override
  public synchronized List<ClusterTask> tasks() {
    return tasks.stream().map(RunningTask::now).toList();
  }

  @Override
  public synchronized boolean cancel(String id) {
    return tasks.stream().filter(task -> task.now().id().equals(id)).anyMatch(this::cancel);
  }

  private boolean cancel(RunningTask task) {
    if (!task.end(State.CANCELLED, "")) {
      return false;
    }
    if (task.now().order().kind() == Kind.DRAIN) {
      tell.accept(Member.State.UP);
    }
    return true;
  }

  @Override
  public ClusterTask start(TaskOrder order, KeyFilter which) {
    requireTaker(order);
    RunningTask task;
    synchronized (this) {
      if (order.kind() == Kind.RESUME) {
        running(Kind.DRAIN).forEach(this::cancel);
      }
      requireFree(order);
      switch (order.kind()) {
        case DRAIN -> tell.accept(Member.State.DRAINING);
        case RESUME -> tell.accept(Member.State.UP);
        case REBALANCE, COPY, MOVE, REMOVE -> { // the node takes new blocks as before
        }
      }
      task = new RunningTask(terms.node + "/" + ++started, terms.node, order);
      tasks.add(task);
      while (tasks.size() > KEPT && !tasks.getFirst().isRunning()) {
        tasks.removeFirst();
      }
    }
    task.runs(Flux.defer(() -> Flux.fromIterable(meant(task, order))).concatMap(space -> run(task, space, which), 1)
        .then(Mono.defer(() -> left(task)))
        .subscribeOn(work)
        .subscribe(left -> ended(task, left),
            failure -> task.end(State.FAILED, Reason.of(failure))));
    return task.now();
  }

  /// The spaces that the order of a task means: none, if this node has no space of that name.
  private List<OwnBlocks> meant(RunningTask task, TaskOrder order) {
    List<OwnBlocks> meant = spaces.get().stream()
        .filter(space -> order.space().isEmpty() || space.own().info().name().equals(order.space())).toList();
    if (meant.isEmpty() && !order.space().isEmpty()) {
      task.problem("the node has no space " + order.space());
    }
    return meant;
  }

  @GuardedBy("this") private List<RunningTask> running(Kind kind) {
    return tasks.stream().filter(task -> task.isRunning() && task.now().order().kind() == kind).toList();
  }

  private void requireTaker(TaskOrder order) {
    if (order.to().isEmpty()) {
      return;
    }
    List<String> others = terms.members.get().stream().filter(member -> !terms.self.test(member)).map(Member::name)
        .toList();
    if (!others.contains(order.to())) {
      throw new IllegalStateException("to must be another member, one of %s (was %s)".formatted(others, order.to()));
    }
  }

  @GuardedBy("this") private void requireFree(TaskOrder order) {
    boolean levels = order.kind() == Kind.DRAIN || order.kind() == Kind.REBALANCE;
    if (levels && !(running(Kind.DRAIN).isEmpty() && running(Kind.REBALANCE).isEmpty())) {
      throw new IllegalStateException("a node must run one task that drains or rebalances it (runs one)");
    }
    long now = tasks.stream().filter(RunningTask::isRunning).count();
    if (now >= MOST_RUNNING) {
      throw new IllegalStateException("tasks of a node must be <= " + MOST_RUNNING + " (was " + now + ")");
    }
  }

  private Mono<Long> left(RunningTask task) {
    return task.now().order().kind() == Kind.DRAIN ? blocks() : Mono.just(0L);
  }

  private Mono<Long> blocks() {
    return Flux.defer(() -> Flux.fromIterable(spaces.get())).concatMap(space -> space.own().stat(), 1)
        .map(TierStat::blocks).reduce(0L, Long::sum);
  }

  private static void ended(RunningTask task, long left) {
    String problem = task.now().problem();
    task.left(left);
    if (left == 0) {
      boolean isWhole = problem.isEmpty() || task.now().order().kind() == Kind.DRAIN; // which tried again
      task.end(isWhole ? State.DONE : State.FAILED, "");
    } else {
      task.end(State.FAILED,
          left + " blocks are left" + (problem.isEmpty() ? ": readers hold them, or they are new" : ": " + problem));
    }
  }

  private Mono<Void> run(RunningTask task, OwnBlocks space, KeyFilter which) {
    TaskOrder order = task.now().order();
    return switch (order.kind()) {
      case DRAIN -> drain(task, space);
      case RESUME -> Mono.empty();
      case REBALANCE -> rebalance(task, space);
      case COPY -> give(task, space, keys(space, which), giving(space, order.to(), null)).then();
      case MOVE -> move(task, space, keys(space, which), giving(space, order.to(), handOver(space)));
      case REMOVE -> remove(task, space, which);
    };
  }

  private Giving giving(OwnBlocks space, String to, @Nullable HandOver removal) {
    return new Giving(space, terms.self, member -> to.isEmpty() || member.name().equals(to), removal);
  }

  private HandOver handOver(OwnBlocks space) {
    return new HandOver(space.own(), terms.node, timers);
  }

  private static Flux<BlockKey> keys(OwnBlocks space, KeyFilter which) {
    return space.keys().filter(which.test());
  }

  /// Passes over the blocks until a pass gives nothing away, or nothing is left. Blocks that are left after a pass have
  /// a while to lose their readers, and the leases of the groups that the pass itself read.
  private Mono<Void> drain(RunningTask task, OwnBlocks space) {
    return Flux.range(0, MOST_PASSES).concatMap(pass -> space.own().stat().flatMap(stat -> {
      task.left(stat.blocks());
      Mono<Passed> giving = give(task, space, space.keys(), giving(space, "", handOver(space)));
      return stat.blocks() == 0 || pass == 0 ? giving : Mono.delay(BETWEEN_PASSES, timers).then(giving);
    }), 0).takeUntil(passed -> passed.there == 0).then();
  }

  /// Passes over the blocks until none that another member has stays here.
  private Mono<Void> move(RunningTask task, OwnBlocks space, Flux<BlockKey> keys, Giving giving) {
    return Flux.range(0, MOST_PASSES)
        .concatMap(pass -> pass == 0
            ? give(task, space, keys, giving)
            : Mono.delay(BETWEEN_PASSES, timers).then(give(task, space, keys, giving)), 0)
        .takeUntil(passed -> passed.kept == 0).last().doOnNext(passed -> {
          if (passed.kept > 0) {
            task.problem(passed.kept + " blocks are left: readers hold them");
          }
        }).then();
  }

  private Mono<Void> rebalance(RunningTask task, OwnBlocks space) {
    return space.cluster().members().flatMap(members -> space.own().stat().flatMap(stat -> {
      long surplus = surplus(members, stat.bytes()) / space.blockBytes();
      task.left(Math.max(0, surplus));
      double average = average(members);
      Giving giving = new Giving(space, terms.self, member -> fullness(member.figures()) < average - LEVEL / 2,
          handOver(space));
      return surplus <= 0 ? Mono.empty() : give(task, space, space.keys().take(surplus), giving).then();
    }));
  }

  private static double fullness(Member.Figures figures) {
    return figures.bytes() / (double) Math.max(1, figures.capacityBytes());
  }

  private static double average(List<Member> members) {
    double bytes = 0;
    double capacity = 0;
    for (Member member : members) {
      if (member.state() == Member.State.UP) {
        bytes += member.figures().bytes();
        capacity += member.figures().capacityBytes();
      }
    }
    return bytes / Math.max(1, capacity);
  }

  /// Bytes that this node has above the average; less than 1 for none.
  private long surplus(List<Member> members, long bytes) {
    double average = average(members);
    return members.stream().filter(terms.self).findFirst().map(Member::figures)
        .filter(own -> fullness(own) > average + LEVEL)
        .map(own -> bytes - (long) (average * own.capacityBytes())).orElse(0L);
  }

  private Mono<Void> remove(RunningTask task, OwnBlocks space, KeyFilter which) {
    return Flux.usingWhen(Mono.fromSupplier(() -> space.own().holds(this)), holds -> holds.remove(which, false),
        holds -> Mono.fromRunnable(holds::close))
        .doOnNext(count -> task.did(count.removed(), count.removed() * space.blockBytes()))
        .reduce(RemovalCount.NONE, RemovalCount::plus).then();
  }

  /// What a pass over blocks did.
  ///
  /// @param there blocks that others have now
  /// @param kept those of them that stay here, though they were to leave
  private record Passed(long there, long kept) {
    static final Passed NOTHING = new Passed(0, 0);

    Passed plus(Passed other) {
      return new Passed(there + other.there, kept + other.kept);
    }
  }

  /// Gives blocks a few at a time, no faster than the task may.
  private Mono<Passed> give(RunningTask task, OwnBlocks space, Flux<BlockKey> keys, Giving giving) {
    long rate = task.now().order().bytesPerSecond() == 0
        ? terms.bytesPerSecond
        : task.now().order().bytesPerSecond();
    return Mono.defer(() -> {
      TokenBucket bucket = new TokenBucket(rate, rate, now());
      return keys.distinctUntilChanged().buffer(BATCH).map(batch -> batch.stream().distinct().toList())
          .flatMap(batch -> pause(bucket, batch.size() * space.blockBytes()).then(giving.give(batch))
              .doOnNext(given -> task.did(given.blocks() - given.kept(), given.sent() * space.blockBytes()))
              .map(given -> new Passed(given.blocks(), given.kept()))
              .onErrorResume(HandOver::isOfMember, failure -> {
                task.problem(Reason.of(failure));
                return Mono.just(Passed.NOTHING);
              }), TOGETHER, 1)
          .reduce(Passed.NOTHING, Passed::plus);
    });
  }

  private long now() {
    return timers.now(TimeUnit.NANOSECONDS);
  }

  private Mono<Void> pause(TokenBucket bucket, long bytes) {
    return Mono.defer(() -> {
      long wait;
      synchronized (bucket) {
        wait = bucket.take(bytes, now());
      }
      return wait == 0 ? Mono.empty() : Mono.delay(Duration.ofNanos(wait), timers).then();
    });
  }

  /// Ends all tasks.
  public synchronized void close() {
    tasks.forEach(task -> task.end(State.CANCELLED, "the node ended"));
  }
}
