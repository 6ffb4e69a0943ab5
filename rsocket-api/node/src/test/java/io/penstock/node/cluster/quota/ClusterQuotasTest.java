package io.penstock.node.cluster.quota;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.node.cluster.MemoryTable;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierListener;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import io.penstock.wire.cluster.SpaceQuota;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Quotas over members of a cluster, in virtual time.
@Timeout(60)
final class ClusterQuotasTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final long BLOCK = SPACE.layout().blockBytes();
  private static final int LATE_MILLIS = 300;

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SlabArena source = new SlabArena("put", SPACE.layout(), 64, 64);
  private final Map<String, Peer> peers = new LinkedHashMap<>();
  private MemoryTable table = new MemoryTable();
  private Random random = new Random(1);

  /// The table as one member has it: what it writes is there a while later.
  private record Late(MemoryTable table, VirtualTimeScheduler time, Random random) implements SharedTable {
    @Override
    public void put(String name, byte[] value) {
      time.schedule(() -> table.put(name, value), random.nextInt(LATE_MILLIS), TimeUnit.MILLISECONDS);
    }

    @Override
    public void remove(String name, byte[] value) {
      table.remove(name, value);
    }

    @Override
    public Map<String, byte[]> values() {
      return table.values();
    }

    @Override
    public Disposable listen(Listener listener) {
      return table.listen(listener);
    }
  }

  private final class Peer {
    final HostTier tier =
        new HostTier(SPACE, 256, StackOptions.defaults("dram").withExact(false), TierListener.noop());
    final Member member;
    final ClusterQuotas quotas;

    Peer(String name, long generation, long quotaBlocks) {
      member = new Member(name, generation, List.of("127.0.0.1:1"), "", Member.State.UP, Member.Figures.NONE);
      quotas = new ClusterQuotas(new ClusterQuotas.Self(name, generation),
          List.of(new ClusterQuotas.Limited(tier, "tenant", quotaBlocks * BLOCK)),
          () -> peers.values().stream().map(peer -> peer.member).toList(), new Late(table, time, random), time);
      peers.put(name, this);
      quotas.begin();
    }

    void put(List<BlockKey> keys) {
      try (BlockScope scope = new BlockScope()) {
        List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(source, key))).toList();
        tier.put(keys, SliceShape.defaults(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast();
      }
    }

    long blocks() {
      return requireNonNull(tier.stat().block()).blocks();
    }

    int has(int from, int to) {
      return requireNonNull(tier.contains(keys(from, to)).block()).count();
    }

    void end() {
      quotas.dispose();
      tier.close().block();
    }
  }

  @AfterEach
  void close() {
    peers.values().forEach(Peer::end);
    source.close();
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  private void pass(long millis) {
    time.advanceTimeBy(Duration.ofMillis(millis));
  }

  private long sum() {
    return peers.values().stream().mapToLong(Peer::blocks).sum();
  }

  @Test
  void membersTogether_keepTheQuota_andTheOldestBlocksGo() {
    Peer a = new Peer("a", 1, 20);
    Peer b = new Peer("b", 2, 20);
    a.put(keys(0, 10));
    b.put(keys(100, 110));
    pass(3_000);
    assertThat(sum()).as("as many as the quota has").isEqualTo(20);
    a.put(keys(10, 20));
    pass(3_000);
    assertThat(sum()).isBetween(18L, 20L);
    assertThat(a.has(10, 20)).as("the newest").isEqualTo(10);
    assertThat(a.has(0, 10)).as("a had more, and gave more").isBetween(1, 4);
    assertThat(b.blocks()).isBetween(6L, 9L);
    assertThat(a.quotas.quotas()).isEqualTo(b.quotas.quotas())
        .containsExactly(new SpaceQuota("tenant", sum() * BLOCK, 20 * BLOCK, 2));
  }

  @Test
  void blocksThatArePinnedOrLeased_stay_andOthersGoInstead() {
    Peer a = new Peer("a", 1, 4);
    a.put(keys(0, 8));
    TierHolds holds = a.tier.holds("me");
    holds.pin(keys(0, 2), Pin.hard()).block();
    holds.lease(keys(2, 3), LeaseTerms.defaults().withLife(Duration.ofMinutes(5))).block();
    pass(2_000);
    assertThat(a.has(0, 3)).isEqualTo(3);
    assertThat(a.has(7, 8)).isEqualTo(1);
    assertThat(a.blocks()).isEqualTo(4);
    holds.close();
  }

  @Test
  void aMemberThatIsGone_leavesItsPartToTheOthers_andItsNextStartCountsAlone() {
    Peer a = new Peer("a", 1, 10);
    Peer b = new Peer("b", 2, 10);
    a.put(keys(0, 5));
    b.put(keys(100, 105));
    pass(2_000);
    requireNonNull(peers.remove("b")).end();
    a.put(keys(5, 10));
    pass(3_000);
    assertThat(a.blocks()).isEqualTo(10);
    Peer again = new Peer("b", 3, 10);
    pass(3_000);
    assertThat(a.blocks()).as("what the earlier start told does not count").isEqualTo(10);
    assertThat(table.values()).hasSize(2);
    again.put(keys(100, 110));
    pass(4_000);
    assertThat(sum()).isBetween(8L, 10L);
  }

  @Test
  void aSumOfManyMembers_isBackUnderTheQuotaSoon_andNeverFarAboveOrBelow() {
    for (long seed = 0; seed < 60; seed++) {
      random = new Random(seed);
      table = new MemoryTable();
      int quota = 40 + random.nextInt(60);
      for (int i = 0; i < 2 + random.nextInt(4); i++) {
        Peer peer = new Peer("p" + i, i + 1, quota);
        pass(random.nextInt(1_000)); // looks of members are at different times
        assertThat(peer.blocks()).isZero();
      }
      List<Peer> all = List.copyOf(peers.values());
      Deque<Long> written = new ArrayDeque<>();
      int next = 0;
      for (int step = 0; step < 150; step++) {
        int count = random.nextInt(6);
        all.get(random.nextInt(all.size())).put(keys(next, next + count));
        next += count;
        for (int i = 0; i < count; i++) {
          written.add(now());
        }
        pass(random.nextInt(200));
        while (!written.isEmpty() && now() - written.getFirst() > 2_000 + LATE_MILLIS) {
          written.removeFirst();
        }
        assertThat(sum()).as("seed " + seed + ", step " + step).isLessThanOrEqualTo(quota + written.size());
      }
      pass(8_000);
      assertThat(sum()).as("seed " + seed + " in the end").isLessThanOrEqualTo(quota)
          .isGreaterThan(Math.min(next, quota) / 2);
      peers.values().forEach(Peer::end);
      peers.clear();
    }
  }

  private long now() {
    return time.now(TimeUnit.MILLISECONDS);
  }

  @Test
  void aTelling_travelsWhole() throws Exception {
    SpaceTelling telling = new SpaceTelling("n", 3, 7, "tenant", 1 << 20, 1L << 40);
    assertThat(SpaceTelling.read(telling.write())).isEqualTo(telling);
    assertThat(SharedTable.isLater(new SpaceTelling("n", 1, 8, "tenant", 0, 1).write(), telling.write())).isTrue();
  }
}
