package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Medium;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierInfo;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// Copies of new blocks, and exact places for them.
@Timeout(60)
final class SpreadTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final TierInfo INFO = new TierInfo("cluster test", Medium.REMOTE, SPACE, 256);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final List<ClusterOfTiers> opened = new ArrayList<>();
  private final SlabArena source = new SlabArena("put", SPACE.layout(), 64, 64);

  /// A long run holds the nodes of one seed at a time.
  private void closeNodes() {
    opened.forEach(nodes -> nodes.close().block(PATIENCE));
    opened.clear();
  }

  @AfterEach
  void close() {
    closeNodes();
    assertThat(source.claimedSlots()).isZero();
    source.close();
  }

  private ClusterOfTiers cluster(int count, long capacity, String... places) {
    ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
    opened.add(nodes);
    for (int i = 0; i < count; i++) {
      ClusterOfTiers.Node node = nodes.add("n" + i, capacity);
      String place = places.length == 0 ? "" : places[i % places.length];
      node.member = new Member("n" + i, 1, List.of(), place, Member.State.UP, Member.Figures.NONE);
    }
    return nodes;
  }

  private static ClusterTier over(ClusterOfTiers nodes, long seed, Spread spread) {
    return new ClusterTier(INFO, nodes, "", new SplittableRandom(seed), Schedulers.immediate(),
        Schedulers.immediate(), spread);
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  /// Puts through a source that counts how often it is asked for a key.
  ///
  /// @param asked called for each window
  private List<Receipt> put(ClusterTier tier, List<BlockKey> keys, SliceShape shape, Map<BlockKey, Integer> times,
      Runnable asked) {
    try (BlockScope scope = new BlockScope()) {
      List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(source, key))).toList();
      PutSource whole = PutSource.of(blocks, shape.order());
      return requireNonNull(tier.put(keys, shape, window -> {
        asked.run();
        window.keys().forEach(key -> times.merge(key, 1, Integer::sum));
        return whole.window(window);
      }).collectList().block(PATIENCE));
    }
  }

  private static List<String> named(Receipt receipt) {
    return Stream.of(receipt.tier().split(" \\+ ")).map(name -> name.split(" ")[0]).toList();
  }

  @Test
  void copies_standAtDifferentPlaces_ifThereAreSuch() {
    for (long seed = 0; seed < 40; seed++) {
      ClusterOfTiers nodes = cluster(6, 64, "z1/r1", "z1/r2", "z1/r1", "z2/r1", "z1/r1", "z1/r1");
      Map<BlockKey, Integer> times = new LinkedHashMap<>();
      ClusterTier tier = over(nodes, seed, Spread.defaults().withCopies(2));
      List<Receipt> receipts = put(tier, keys(0, 12), SliceShape.defaults(), times, () -> {});
      assertThat(receipts).hasSize(12).allSatisfy(receipt -> assertThat(named(receipt)).hasSize(2).contains("n3"));
      assertThat(times.values()).containsOnly(1);
      assertThat(tier.missingCopies()).isZero();
    }
  }

  @Test
  void copiesThatNoMemberTakes_areCounted_andTheReceiptNamesTheOthers() {
    ClusterOfTiers nodes = cluster(3, 64);
    nodes.node("n1").mortal.die();
    ClusterTier tier = over(nodes, 1, Spread.defaults().withCopies(3));
    List<Receipt> receipts = put(tier, keys(0, 5), SliceShape.defaults(), new LinkedHashMap<>(), () -> {});
    assertThat(receipts).hasSize(5)
        .allSatisfy(receipt -> assertThat(named(receipt)).containsExactlyInAnyOrder("n0", "n2"));
    assertThat(tier.missingCopies()).isEqualTo(5);

    nodes.node("n0").mortal.die();
    nodes.node("n2").mortal.die();
    assertThatThrownBy(() -> put(tier, keys(5, 6), SliceShape.defaults(), new LinkedHashMap<>(), () -> {}))
        .isInstanceOf(NoMemberException.class);
  }

  @Test
  void aMemberThatDiesInTheMiddle_costsItsCopiesAlone() {
    for (long seed = 0; seed < 100; seed++) {
      dieInTheMiddle(seed);
    }
  }

  @Test
  @Tag("proof")
  void aMemberThatDiesInTheMiddle_costsItsCopiesAlone_longRun() {
    for (long seed = 1_000; seed < 11_000; seed++) {
      dieInTheMiddle(seed);
      closeNodes();
    }
  }

  private void dieInTheMiddle(long seed) {
    Random random = new Random(seed);
    ClusterOfTiers nodes = cluster(4, 64, "z1", "z2");
    int copies = 2 + random.nextInt(2);
    int dies = random.nextInt(8);
    String dead = "n" + random.nextInt(4);
    int[] windows = {0};
    SliceShape shape = new SliceShape(1 + random.nextInt(7), List.of(16, 64, 200, 1024).get(random.nextInt(4)),
        random.nextBoolean() ? SliceShape.Order.LAYER_FIRST : SliceShape.Order.BLOCK_FIRST, 0);
    Map<BlockKey, Integer> times = new LinkedHashMap<>();
    ClusterTier tier = over(nodes, seed, Spread.defaults().withCopies(copies));
    List<Receipt> receipts = put(tier, keys(0, 24), shape, times, () -> {
      if (windows[0]++ == dies) {
        nodes.node(dead).mortal.die();
      }
    });
    String why = "seed " + seed;
    assertThat(receipts).as(why).hasSize(24);
    assertThat(times.values()).as(why).hasSize(24).containsOnly(1);
    long missing = 0;
    for (Receipt receipt : receipts) {
      List<String> names = named(receipt);
      missing += copies - names.size();
      assertThat(names).as(why).hasSizeBetween(copies - 1, copies).doesNotHaveDuplicates();
      names.forEach(name -> assertThat(nodes.node(name).of(List.of(receipt.key()))).as(why).hasSize(1));
    }
    assertThat(tier.missingCopies()).as(why).isEqualTo(missing);
    assertThat(nodes.claimedSlots()).as(why).isEqualTo(nodes.visibleBlocks());
  }

  @Test
  void exact_hasTheHitsOfOnePool_ofTheSizeOfAllMembers() {
    for (long seed = 0; seed < 8; seed++) {
      Random random = new Random(seed);
      ClusterOfTiers nodes = cluster(4, 16);
      ClusterTier tier = over(nodes, seed, Spread.defaults().withExact(true));
      Map<BlockKey, Boolean> pool = pool(4 * 16);
      for (int i = 0; i < 60; i++) {
        int prompt = random.nextInt(12);
        List<BlockKey> keys = new ArrayList<>(keys(0, 1 + random.nextInt(2)));
        keys.addAll(keys(20 * (prompt + 1), 20 * (prompt + 1) + 1 + random.nextInt(15)));
        int expected = prefix(pool, keys);
        keys.forEach(key -> pool.put(key, true));
        assertThat(tier.match(keys).block(PATIENCE)).as("seed " + seed + ", request " + i).isEqualTo(expected);
        read(tier, keys.subList(0, expected));
        put(tier, keys.subList(expected, keys.size()), SliceShape.defaults(), new LinkedHashMap<>(), () -> {});
      }
      Set<BlockKey> there = new HashSet<>();
      for (String name : List.of("n0", "n1", "n2", "n3")) {
        there.addAll(nodes.node(name).of(List.copyOf(pool.keySet())));
      }
      assertThat(there).isEqualTo(pool.keySet());
    }
  }

  private static void read(ClusterTier tier, List<BlockKey> keys) {
    Flux.using(BlockScope::new, scope -> tier.get(keys, scope).doOnNext(Block::close), BlockScope::close)
        .blockLast(PATIENCE);
  }

  private static int prefix(Map<BlockKey, Boolean> pool, List<BlockKey> keys) {
    int prefix = 0;
    while (prefix < keys.size() && pool.containsKey(keys.get(prefix))) {
      prefix++;
    }
    return prefix;
  }

  private static Map<BlockKey, Boolean> pool(int blocks) {
    return new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1;

      @Override
      protected boolean removeEldestEntry(Map.Entry<BlockKey, Boolean> eldest) {
        return size() > blocks;
      }
    };
  }

  @Test
  void aSpread_thatNoClusterCanGive_isRefused() {
    assertThatThrownBy(() -> new Spread(0, false)).hasMessageContaining("copies must be");
    assertThatThrownBy(() -> new Spread(9, false))
        .hasMessage("copies must be <= 8, and 1 if exact (was 9)");
    assertThatThrownBy(() -> Spread.defaults().withExact(true).withCopies(2)).hasMessageContaining("1 if exact");
  }
}
