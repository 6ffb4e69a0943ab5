package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.HoldOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class ClusterHoldsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final TierInfo INFO = new TierInfo("cluster test", Medium.REMOTE, SPACE, 256);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final LeaseTerms LONG = LeaseTerms.defaults().withLife(Duration.ofMinutes(5));
  private static final int CAPACITY = 64;

  private VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<ClusterOfTiers> opened = new ArrayList<>();

  /// A long run holds the nodes of one seed at a time.
  private void closeNodes() {
    opened.forEach(nodes -> nodes.close().block(PATIENCE));
    opened.clear();
  }

  @AfterEach
  void close() {
    closeNodes();
  }

  private ClusterOfTiers cluster(int count) {
    ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
    opened.add(nodes);
    for (int i = 0; i < count; i++) {
      nodes.add("n" + i, CAPACITY, StackOptions.defaults("dram").withExact(false));
    }
    return nodes;
  }

  private ClusterTier over(ClusterOfTiers nodes, long seed) {
    return new ClusterTier(INFO, nodes, "", new SplittableRandom(seed), time, time);
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  /// Other blocks fill a node twice.
  private static void crowd(ClusterOfTiers.Node node) {
    for (int i = 0; i < 2 * CAPACITY; i += 16) {
      node.put(keys(1_000 + i, 1_016 + i));
    }
  }

  private static long leases(ClusterOfTiers nodes, String name) {
    return value(nodes.node(name).tier.stat()).holds().leases();
  }

  private static List<BlockKey> readUnder(TierHolds holds, long id, List<BlockKey> keys) {
    return value(Flux.using(BlockScope::new, scope -> holds.read(id, keys, scope)
        .flatMapMany(lease -> lease.windows(3, scope)).concatMapIterable(window -> window, 1).map(leased -> {
          Blocks.assertBytes(leased.block());
          leased.block().close();
          return leased.block().key();
        }), BlockScope::close).collectList());
  }

  @Test
  void aLease_hasOneName_andEachBlockStaysAtOneMember() {
    ClusterOfTiers nodes = cluster(3);
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(2, 4));
    nodes.node("n2").put(keys(0, 4));
    nodes.node("n2").tier.remove(keys(0, 4)).block();
    ReadLease lease = value(over(nodes, 1).holds("me").lease(keys(0, 6), LONG.withSurvives(true)));
    assertThat(lease.found().prefix()).isEqualTo(4);
    assertThat(lease.leased().count()).isEqualTo(4);
    assertThat(leases(nodes, "n2")).isZero();
    List.of("n0", "n1", "n2").forEach(name -> crowd(nodes.node(name)));
    TierHolds other = over(nodes, 2).holds("another process");
    assertThat(readUnder(other, lease.id(), keys(0, 6))).isEqualTo(keys(0, 4));
    assertThat(value(other.release(lease.id()))).isTrue();
    assertThat(leases(nodes, "n0") + leases(nodes, "n1")).isZero();
    assertThatThrownBy(() -> readUnder(other, lease.id(), keys(0, 4))).isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void aLeaseOfThePrefix_leasesNothingBehindAMiss() {
    ClusterOfTiers nodes = cluster(2);
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(3, 6));
    nodes.stale.put(keys(2, 3).getFirst(), "n1");
    ReadLease lease = value(over(nodes, 1).holds("me").lease(keys(0, 6), LONG));
    assertThat(lease.found().bits().stream()).containsExactly(0, 1);
    assertThat(leases(nodes, "n0")).isEqualTo(1);
    assertThat(leases(nodes, "n1")).isZero();
  }

  @Test
  void aMemberThatGivesNoMoreLeases_refusesTheWholeLease_andNothingIsLeft() {
    ClusterOfTiers nodes = cluster(1);
    nodes.add("n1", CAPACITY, StackOptions.defaults("dram").withHolds(HoldOptions.defaults().withLeasesPerParty(1)));
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(2, 4));
    TierHolds holds = over(nodes, 1).holds("me");
    TierHolds there = nodes.node("n1").tier.holds("me");
    value(there.lease(keys(2, 3), LONG));
    assertThatThrownBy(() -> holds.lease(keys(0, 4), LONG).block(PATIENCE)).isInstanceOf(HoldLimitException.class);
    assertThat(leases(nodes, "n0")).isZero();
    there.close();
  }

  @Test
  void pins_areOnEveryCopy_andAKeyIsRefusedOnlyIfNoCopyIsPinned() {
    ClusterOfTiers nodes = cluster(3);
    nodes.node("n0").put(keys(0, 40));
    nodes.node("n1").put(keys(0, 2));
    TierHolds holds = over(nodes, 1).holds("me");
    assertThat(value(holds.pin(keys(0, 2), Pin.hard()))).containsExactly(KeyOutcome.OK, KeyOutcome.OK);
    assertThat(value(nodes.node("n0").tier.stat()).holds().hardPinned()).isEqualTo(2);
    assertThat(value(nodes.node("n1").tier.stat()).holds().hardPinned()).isEqualTo(2);
    assertThat(value(holds.pin(keys(39, 41), Pin.none()))).containsExactly(KeyOutcome.UNCHANGED,
        KeyOutcome.NOT_FOUND);

    assertThat(value(holds.pin(keys(2, 32), Pin.hard()))).hasSize(30).containsOnly(KeyOutcome.OK);
    assertThatThrownBy(() -> holds.pin(keys(32, 40), Pin.hard()).block(PATIENCE))
        .isInstanceOf(HoldLimitException.class).hasMessageContaining("pinned blocks must be <= 32 (was 40)");
    nodes.node("n2").put(keys(32, 33));
    assertThat(value(holds.pin(keys(32, 33), Pin.hard()))).as("one copy found room").containsExactly(KeyOutcome.OK);
  }

  @Test
  void removal_takesEveryCopy_andSaysWhyOneStays() {
    ClusterOfTiers nodes = cluster(3);
    nodes.node("n0").put(keys(0, 4));
    nodes.node("n1").put(keys(0, 6));
    TierHolds holds = over(nodes, 1).holds("me");
    nodes.node("n1").tier.holds("reader").lease(keys(0, 1), LONG).block(PATIENCE);
    assertThat(value(holds.remove(List.of(keys(0, 1).getFirst(), keys(1, 2).getFirst(), keys(7, 8).getFirst()),
        false))).containsExactly(KeyOutcome.LEASED, KeyOutcome.OK, KeyOutcome.NOT_FOUND);
    assertThat(nodes.node("n0").of(keys(0, 2))).isEmpty();
    assertThat(value(holds.remove(KeyFilter.all(), false).reduce(RemovalCount.NONE, RemovalCount::plus)))
        .isEqualTo(new RemovalCount(6, 1, 0));
    assertThat(value(holds.remove(keys(0, 1), true))).containsExactly(KeyOutcome.OK);
  }

  @Test
  void removal_thatCouldNotReachAMember_saysSo_afterTheOthersHaveRemoved() {
    ClusterOfTiers nodes = cluster(2);
    nodes.node("n0").put(keys(0, 4));
    nodes.node("n1").put(keys(0, 4));
    TierHolds holds = over(nodes, 1).holds("me");
    nodes.node("n0").mortal.die();
    assertThatThrownBy(() -> holds.remove(keys(0, 4), false).block(PATIENCE)).isInstanceOf(TransientKvException.class);
    assertThat(nodes.node("n1").of(keys(0, 4))).isEmpty();
  }

  @Test
  void aReadThatGoesOn_beginsEveryPartAgainEachSecond_andOnceMoreAtItsEnd() {
    ClusterOfTiers nodes = cluster(2);
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(2, 4));
    TierHolds holds = over(nodes, 1).holds("me");
    long id = value(holds.lease(keys(0, 4), LONG)).id();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(holds.read(id, keys(0, 1), scope));
      int before = nodes.node("n1").mortal.reads.get();
      time.advanceTimeBy(Duration.ofSeconds(5));
      assertThat(nodes.node("n1").mortal.reads).hasValue(before + 5);
      lease.close();
      assertThat(nodes.node("n1").mortal.reads).hasValue(before + 6);
      time.advanceTimeBy(Duration.ofSeconds(5));
      assertThat(nodes.node("n1").mortal.reads).hasValue(before + 6);
    }
  }

  @Test
  void aLeaseThatIsReleased_endsItsReads() {
    ClusterOfTiers nodes = cluster(2);
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(2, 4));
    TierHolds holds = over(nodes, 1).holds("me");
    long id = value(holds.lease(keys(0, 4), LONG)).id();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(holds.read(id, keys(0, 4), scope));
      assertThat(value(over(nodes, 2).holds("another process").release(id))).isTrue();
      assertThatThrownBy(() -> lease.windows(4, scope).blockLast(PATIENCE)).isInstanceOf(LeaseExpiredException.class);
    }
  }

  @Test
  void aLeaseThatIsCancelled_endsAtMembersThatHaveNotAnswered_too() {
    ClusterOfTiers nodes = cluster(2);
    nodes.node("n0").put(keys(0, 2));
    nodes.node("n1").put(keys(2, 4));
    nodes.node("n1").mortal.isMute = true;
    Disposable lease = over(nodes, 1).holds("me").lease(keys(0, 4), LONG).subscribe();
    assertThat(leases(nodes, "n0")).isEqualTo(1);
    assertThat(leases(nodes, "n1")).isEqualTo(1);
    lease.dispose();
    assertThat(leases(nodes, "n0")).isZero();
    assertThat(leases(nodes, "n1")).isZero();
  }

  @Test
  void holdsOfAClosedTier_sayThatItIsClosed() {
    ClusterTier tier = over(cluster(1), 1);
    TierHolds holds = tier.holds("me");
    tier.close().block(PATIENCE);
    assertThatThrownBy(() -> holds.lease(keys(0, 1), LONG).block(PATIENCE)).hasMessageContaining("closed");
    assertThatThrownBy(() -> holds.remove(KeyFilter.all(), true).blockLast(PATIENCE)).hasMessageContaining("closed");
  }

  @Test
  void membersThatDie_costTheirPartOfALease_andNoMore() {
    for (long seed = 0; seed < 80; seed++) {
      run(seed);
    }
  }

  @Test
  @Tag("proof")
  void membersThatDie_costTheirPartOfALease_andNoMore_longRun() {
    for (long seed = 1_000; seed < 21_000; seed++) {
      run(seed);
    }
  }

  private void run(long seed) {
    try {
      time = VirtualTimeScheduler.create(); // cancelled timers stay in the queue of an earlier one
      new Run(seed).go();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e, e);
    }
  }

  /// Blocks at one to three of four nodes are leased, nodes die, others fill, and the blocks are read.
  private final class Run {
    private final Random random;
    private final ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
    private final List<BlockKey> keys = keys(0, 12);
    private final Map<BlockKey, Set<String>> where = new HashMap<>();
    private final Set<String> dead = new HashSet<>();
    private final BlockTier tier;

    Run(long seed) {
      this.random = new Random(seed);
      for (int i = 0; i < 4; i++) {
        nodes.add("n" + i, CAPACITY, StackOptions.defaults("dram").withExact(false));
      }
      this.tier = over(nodes, seed);
    }

    void go() {
      scatter();
      TierHolds holds = tier.holds("me");
      boolean prefixOnly = random.nextBoolean();
      ReadLease lease = value(holds.lease(keys, LONG.withPrefixOnly(prefixOnly).withSurvives(random.nextBoolean())));
      assertThat(lease.found().count()).isEqualTo(prefixOnly ? prefix() : where.size());
      assertThat(lease.leased()).as("there is room for all").isEqualTo(lease.found());
      kill(random.nextInt(3));
      living().forEach(name -> crowd(nodes.node(name)));
      lease.leased().bits().stream().mapToObj(keys::get).filter(key -> where(key).stream().noneMatch(dead::contains))
          .forEach(key -> assertThat(there(key)).as("leased, and no copy died: " + key).isTrue());
      read(holds, lease);
      holds.release(lease.id()).block(PATIENCE);
      living().forEach(name -> assertThat(leases(nodes, name)).as(name).isZero());
      assertThatThrownBy(() -> readUnder(holds, lease.id(), keys)).isInstanceOfAny(LeaseExpiredException.class,
          TransientKvException.class);
      holds.close();
      living().forEach(name -> assertThat(nodes.node(name).tier.arena().claimedSlots()).as("slots of " + name)
          .isEqualTo(value(nodes.node(name).tier.stat()).blocks()));
      nodes.close().block(PATIENCE);
    }

    private void scatter() {
      int at = 0;
      while (at < keys.size()) {
        int run = Math.min(keys.size() - at, 1 + random.nextInt(4));
        Set<String> names = new HashSet<>();
        for (int copies = random.nextInt(4); copies > 0; copies--) {
          names.add("n" + random.nextInt(4));
        }
        List<BlockKey> part = keys.subList(at, at + run);
        names.forEach(name -> nodes.node(name).put(part));
        if (!names.isEmpty()) {
          part.forEach(key -> where.put(key, names));
        }
        at += run;
      }
    }

    private int prefix() {
      int prefix = 0;
      while (prefix < keys.size() && where.containsKey(keys.get(prefix))) {
        prefix++;
      }
      return prefix;
    }

    private Set<String> where(BlockKey key) {
      return requireNonNull(where.get(key));
    }

    private void kill(int count) {
      for (int i = 0; i < count; i++) {
        String name = "n" + random.nextInt(4);
        dead.add(name);
        nodes.node(name).mortal.die();
      }
    }

    private List<String> living() {
      return List.of("n0", "n1", "n2", "n3").stream().filter(name -> !dead.contains(name)).toList();
    }

    private boolean there(BlockKey key) {
      return living().stream().anyMatch(name -> !nodes.node(name).of(List.of(key)).isEmpty());
    }

    /// Reads under the lease; another node may die meanwhile.
    private void read(TierHolds holds, ReadLease lease) {
      boolean held = living().stream().anyMatch(name -> leases(nodes, name) > 0);
      TierHolds reader = random.nextBoolean() ? holds : tier.holds("reader");
      if (!held) {
        assertThatThrownBy(() -> readUnder(reader, lease.id(), keys)).isInstanceOf(LeaseExpiredException.class);
        return;
      }
      int deathAt = random.nextInt(12);
      int[] steps = new int[1];
      List<BlockKey> got = new ArrayList<>();
      boolean slices = random.nextBoolean();
      Map<BlockKey, Integer> bytes = new HashMap<>();
      try (BlockScope scope = new BlockScope()) {
        Lease read = value(reader.read(lease.id(), keys, scope));
        if (slices) {
          read.slices(new SliceShape(1 + random.nextInt(4), 64, SliceShape.Order.LAYER_FIRST, 0), scope)
              .doOnNext(slice -> {
                if (steps[0]++ == deathAt) {
                  kill(1);
                }
                slice.spans().forEach(span -> {
                  Blocks.assertBytes(span);
                  bytes.merge(span.key(), span.bytes(), Integer::sum);
                });
                slice.close();
              }).blockLast(PATIENCE);
          keys.stream().filter(key -> bytes.getOrDefault(key, 0) > 0).forEach(got::add);
          assertThat(bytes.values()).allMatch(count -> count == SPACE.layout().blockBytes());
        } else {
          read.windows(1 + random.nextInt(4), scope).concatMapIterable(window -> window, 1).doOnNext(leased -> {
            if (steps[0]++ == deathAt) {
              kill(1);
            }
            Blocks.assertBytes(leased.block());
            got.add(leased.block().key());
            leased.block().close();
          }).blockLast(PATIENCE);
          assertThat(got).isSortedAccordingTo(Comparator.comparing(keys::indexOf));
        }
      } catch (TransientKvException e) { // a window that no node can make whole
        assertThat(slices).isTrue();
        assertThat(e).hasMessageContaining("died");
        return;
      }
      assertThat(got).doesNotHaveDuplicates().containsAll(keys.stream().filter(this::there).toList());
    }
  }
}
