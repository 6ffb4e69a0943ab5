package io.penstock.wire;

import static io.penstock.wire.FaultNode.await;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import reactor.core.Disposable;

/// Gets, puts and transfers of a few hundred KiB over connections to which something happens, side by side over one
/// node: each ends exactly once, in the state that fits the fault, with no wrong byte; nothing leaks on either side,
/// and the node lives on.
///
/// A seed stands for two connections with a get and a put each, and an engine with two batches. The first connection of
/// each has a fault, and the second one has a fault in every other case. In every eighth round connections fall silent
/// too, which is heard only by the end of keep-alive; in every fourth one the node is started again on the same port,
/// without its blocks, while its clients are at work.
///
/// @param number of the round; rounds of one number are alike
/// @param size number of seeds
record FaultRound(FaultNode node, int number, int size, FaultTally tally) {
  static final CacheSpace SPACE =
      CacheSpace.of("faults", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
  static final Duration PATIENCE = Duration.ofSeconds(120);
  static final int SLICE_BYTES = 32 << 10;
  static final int WINDOW = 4;
  static final Duration KEEP_ALIVE = Duration.ofSeconds(1);
  private static final int SILENCE_EVERY = 8;
  private static final int RESTARTS_EVERY = 4;
  /// Most bytes before a fault: less than one direction of a case carries.
  private static final long MOST_BEFORE = 200_000;
  private static final long MOST_BEFORE_OF_SHARED = 4_000;
  private static final long MOST_BEFORE_OF_TRANSFERS = 120_000;

  void run() {
    Map<FaultCase, Long> seeds = new LinkedHashMap<>();
    for (int i = 0; i < size; i++) {
      long seed = (long) number * size + i;
      for (FaultCase one : cases(i, seed)) {
        seeds.put(one, seed);
      }
    }
    List<FaultCase> cases = List.copyOf(seeds.keySet());
    Running running = new Running();
    cases.forEach(running::begin);
    Disposable passing = node.time().passing(running);
    try {
      run(running, cases);
      boolean restarted = isRestarted();
      cases.forEach(FaultCase::endCaller);
      cases.forEach(one -> tally.fired(one.fired()));
      node.requireIdle();
      for (FaultCase one : cases) {
        try {
          one.check(restarted, tally);
        } catch (AssertionError e) {
          throw new AssertionError("seed " + seeds.get(one), e);
        }
      }
      node.requireHonest(restarted
          ? List.<BlockKey>of()
          : cases.stream().flatMap(one -> one.acknowledged().stream()).toList());
      node.forgetSegments();
    } catch (Throwable e) {
      throw new AssertionError("round " + number + " of " + size + " seeds over " + node.ends(), e);
    } finally {
      passing.dispose();
      cases.forEach(FaultCase::endConnections);
    }
  }

  private boolean isRestarted() {
    return number % RESTARTS_EVERY == 1;
  }

  private List<FaultCase> cases(int i, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long most = node.ends() == Link.SHARED_MEMORY ? MOST_BEFORE_OF_SHARED : MOST_BEFORE;
    FaultPlan one = plan(random, most);
    FaultPlan other = random.nextBoolean() ? FaultPlan.NONE : plan(random, most);
    FaultedBlocks blocks = new FaultedBlocks(node, 2 * seed, one, random.nextInt(FaultedBlocks.mostFrom()));
    FaultedBlocks later = new FaultedBlocks(node, 2 * seed + 1, other, random.nextInt(FaultedBlocks.mostFrom()));
    blocks.follow(later);
    later.follow(blocks);
    List<FaultPlan> plans = new ArrayList<>(List.of(plan(random, MOST_BEFORE_OF_TRANSFERS)));
    if (random.nextBoolean()) {
      plans.add(plan(random, MOST_BEFORE_OF_TRANSFERS));
    }
    return List.of(blocks, later, new FaultedTransfers(node, random, plans, i, random.nextInt(4) == 0));
  }

  private FaultPlan plan(SplittableRandom random, long mostBytes) {
    return FaultPlan.random(random, mostBytes, kind -> number % SILENCE_EVERY == 0 || !kind.isSilent());
  }

  /// What has not ended, and all that moves.
  private static final class Running implements FaultTime.Progress {
    private final Map<FaultCase, CompletableFuture<Void>> running = new LinkedHashMap<>();
    private final AtomicInteger ended = new AtomicInteger();
    private volatile boolean restarting;

    void begin(FaultCase one) {
      running.put(one, one.run(ended));
    }

    @Override
    public long moved() {
      return running.keySet().stream().mapToLong(FaultCase::moved).sum() + ended.get();
    }

    @Override
    public boolean mayWait() {
      return restarting || unended().allMatch(one -> one.fired().stream().anyMatch(plan -> !plan.kind().isHarmless()));
    }

    private Stream<FaultCase> unended() {
      return running.entrySet().stream().filter(one -> !one.getValue().isDone()).map(Map.Entry::getKey);
    }

    void await() throws Exception {
      try {
        CompletableFuture.allOf(running.values().toArray(CompletableFuture[]::new))
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        throw new AssertionError("items must end (did not: " + unended().toList() + ")", e);
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      }
    }
  }

  private void run(Running running, List<FaultCase> cases) throws Exception {
    if (isRestarted()) {
      int first = new SplittableRandom(number).nextInt(cases.stream().mapToInt(FaultCase::items).sum() * 3 / 4);
      await("the item before the restart", () -> running.ended.get() >= first);
      running.restarting = true;
      node.restart();
      tally.restarted();
    }
    running.await();
  }
}
