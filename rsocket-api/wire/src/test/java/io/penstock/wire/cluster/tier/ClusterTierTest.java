package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.flow.SessionTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierInfo;
import io.penstock.wire.cluster.Member;
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
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

@Timeout(60)
final class ClusterTierTest {
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

  private ClusterOfTiers cluster(int count, long capacity) {
    ClusterOfTiers nodes = new ClusterOfTiers(SPACE);
    opened.add(nodes);
    for (int i = 0; i < count; i++) {
      nodes.add("n" + i, capacity);
    }
    return nodes;
  }

  private static ClusterTier over(ClusterOfTiers nodes, long seed) {
    return new ClusterTier(INFO, nodes, "", new SplittableRandom(seed), Schedulers.immediate(),
        Schedulers.immediate());
  }

  private static List<BlockKey> keys(int from, int to) {
    return Blocks.keys(SPACE, from, to);
  }

  private static List<BlockKey> got(BlockTier tier, List<BlockKey> keys) {
    return requireNonNull(Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      Blocks.assertBytes(block);
      block.close();
      return block.key();
    }), BlockScope::close).collectList().block(PATIENCE));
  }

  private void put(BlockTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(source, key))).toList();
      tier.put(keys, SliceShape.defaults(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
    }
  }

  @Test
  void get_joinsThePartsOfNodes_inTheOrderAsked() {
    ClusterOfTiers nodes = cluster(3, 64);
    nodes.node("n0").put(keys(0, 4));
    nodes.node("n2").put(keys(4, 9));
    nodes.node("n1").put(keys(9, 11));

    assertThat(got(over(nodes, 1), keys(0, 12))).isEqualTo(keys(0, 11));
    assertThat(over(nodes, 1).match(keys(0, 12)).block(PATIENCE)).isEqualTo(11);
    assertThat(requireNonNull(over(nodes, 1).locate(keys(0, 12)).block(PATIENCE)).stream()
        .map(run -> run.name() + " " + run.blocks())).containsExactly("n0 4", "n2 5", "n1 2");
  }

  @Test
  void match_asksTheDirectoryAndTheOwners_howeverManyNodesThereAre() {
    ClusterOfTiers nodes = cluster(40, 64);
    nodes.node("n7").put(keys(0, 8));
    nodes.questions.set(0);
    assertThat(over(nodes, 1).match(keys(0, 12)).block(PATIENCE)).isEqualTo(8);
    assertThat(nodes.questions).as("one question to the directory, one to the owner").hasValue(2);
  }

  @Test
  void aBlockThatItsOwnerHasNot_isAMiss_andComesFromAnotherOwner() {
    ClusterOfTiers nodes = cluster(3, 64);
    nodes.node("n0").put(keys(0, 4));
    nodes.stale.put(keys(4, 5).getFirst(), "n0");
    nodes.stale.put(keys(0, 1).getFirst(), "n1");
    for (int seed = 0; seed < 8; seed++) {
      assertThat(over(nodes, seed).match(keys(0, 5)).block(PATIENCE)).isEqualTo(4);
      assertThat(got(over(nodes, seed), keys(0, 5))).isEqualTo(keys(0, 4));
    }
  }

  @Test
  void anEarlierStartOfAMember_givesNothing() {
    ClusterOfTiers nodes = cluster(2, 64);
    nodes.node("n0").put(keys(0, 4));
    List<Member> before = requireNonNull(nodes.members().block());
    nodes.add("n0", 64);
    assertThatThrownBy(() -> nodes.node(before.getFirst()).block()).hasMessageContaining("died");
    assertThat(got(over(nodes, 1), keys(0, 4))).isEmpty();
  }

  @Test
  void put_goesBehindALongPrefix_untilThatNodeIsFull() {
    ClusterOfTiers nodes = cluster(4, 8);
    ClusterTier tier = over(nodes, 3);
    nodes.node("n2").put(keys(0, 4));
    put(tier, keys(0, 7));
    assertThat(nodes.node("n2").of(keys(0, 7))).isEqualTo(keys(0, 7));

    put(tier, keys(0, 12));
    assertThat(nodes.node("n2").of(keys(0, 12))).isEqualTo(keys(0, 7));
    assertThat(got(tier, keys(0, 12))).isEqualTo(keys(0, 12));
  }

  @Test
  void put_ofTheMissingBlocksAlone_goesBehindThePrefixThatWasAskedFor() {
    for (int seed = 0; seed < 8; seed++) {
      ClusterOfTiers nodes = cluster(4, 64);
      ClusterTier tier = over(nodes, seed);
      nodes.node("n2").put(keys(0, 4));
      assertThat(requireNonNull(tier.contains(keys(0, 7)).block(PATIENCE)).prefix()).isEqualTo(4);
      put(tier, keys(4, 7));
      assertThat(nodes.node("n2").of(keys(0, 7))).isEqualTo(keys(0, 7));
    }
  }

  @Test
  void put_ofASession_goesToOneNode() {
    ClusterOfTiers nodes = cluster(4, 400);
    Set<String> used = new HashSet<>();
    for (int session = 0; session < 16; session++) {
      SessionUse use = SessionUse.of(SessionId.of(new byte[] {(byte) session}));
      for (int turn = 0; turn < 3; turn++) {
        put(SessionTier.of(over(nodes, 100 * session + turn), use),
            keys(100 * session + 10 * turn, 100 * session + 10 * turn + 3));
      }
      List<BlockKey> all = keys(100 * session, 100 * session + 30);
      List<String> holders = List.of("n0", "n1", "n2", "n3").stream()
          .filter(name -> !nodes.node(name).of(all).isEmpty()).toList();
      assertThat(holders).hasSize(1);
      used.addAll(holders);
    }
    assertThat(used).hasSizeGreaterThan(2);
  }

  @Test
  void put_isNotBoundByAShortPrefix_whichAllPromptsHave() {
    ClusterOfTiers nodes = cluster(4, 500);
    ClusterTier tier = over(nodes, 3);
    nodes.node("n2").put(keys(0, 1));
    for (int i = 1; i <= 48; i++) {
      List<BlockKey> prompt = new ArrayList<>(keys(0, 1));
      prompt.addAll(keys(10 * i, 10 * i + 4));
      put(tier, prompt);
    }
    for (String name : List.of("n0", "n1", "n2", "n3")) {
      assertThat(requireNonNull(nodes.node(name).tier.stat().block()).blocks()).as(name).isBetween(24L, 76L);
    }
  }

  @Test
  void put_spreadsOverEmptyNodes_andPassesOverThoseThatDrainOrDie() {
    ClusterOfTiers nodes = cluster(4, 64);
    ClusterTier tier = over(nodes, 5);
    nodes.node("n1").mortal.die();
    ClusterOfTiers.Node draining = nodes.node("n3");
    draining.member = new Member("n3", 1, List.of(), "", Member.State.DRAINING, Member.Figures.NONE);
    for (int i = 0; i < 32; i++) {
      put(tier, keys(10 * i, 10 * i + 2));
    }
    assertThat(nodes.node("n0").tier.stat().block().blocks()).isBetween(20L, 44L);
    assertThat(nodes.node("n2").tier.stat().block().blocks()).isBetween(20L, 44L);
    assertThat(draining.tier.stat().block().blocks()).isZero();
  }

  @Test
  void aClusterThatDrains_takesNothing_andSaysSo() {
    ClusterOfTiers nodes = cluster(1, 64);
    nodes.node("n0").member = new Member("n0", 1, List.of(), "", Member.State.DRAINING, Member.Figures.NONE);
    assertThatThrownBy(() -> put(over(nodes, 1), keys(0, 2))).isInstanceOf(NoMemberException.class)
        .hasMessage(
            "cluster cluster test must have a member that takes new blocks (was: 1 members, none of them does)");
  }

  @Test
  void readers_shareTheCopiesOfABlock_andPreferTheNearOne() {
    ClusterOfTiers nodes = cluster(2, 64);
    nodes.node("n0").put(keys(0, 1));
    nodes.node("n1").put(keys(0, 1));
    Set<String> names = new HashSet<>();
    for (int seed = 0; seed < 32; seed++) {
      names.add(requireNonNull(over(nodes, seed).locate(keys(0, 1)).block()).getFirst().name());
    }
    assertThat(names).containsExactlyInAnyOrder("n0", "n1");

    nodes.node("n1").member = new Member("n1", 1, List.of(), "zone1/rack2", Member.State.UP, Member.Figures.NONE);
    ClusterTier near =
        new ClusterTier(INFO, nodes, "zone1/rack3", new SplittableRandom(1), Schedulers.immediate(),
            Schedulers.immediate());
    for (int i = 0; i < 8; i++) {
      assertThat(requireNonNull(near.locate(keys(0, 1)).block()).getFirst().name()).isEqualTo("n1");
    }
  }

  @Test
  void nodesThatDieWhileTheyAreRead_costOnlyBlocksThatNoOtherHas() {
    for (long seed = 0; seed < 60; seed++) {
      run(seed, this::readWindows);
      run(seed, this::readSlices);
      closeNodes();
    }
  }

  @Test
  @Tag("proof")
  void nodesThatDieWhileTheyAreRead_costOnlyBlocksThatNoOtherHas_longRun() {
    for (long seed = 1_000; seed < 11_000; seed++) {
      run(seed, this::readWindows);
      run(seed, this::readSlices);
      closeNodes();
    }
  }

  private static void run(long seed, LongConsumer test) {
    try {
      test.accept(seed);
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  /// Blocks at one to three of four nodes; two nodes die while they are read.
  private ClusterOfTiers scattered(Random random, List<BlockKey> keys, Map<BlockKey, Set<String>> where) {
    ClusterOfTiers nodes = cluster(4, 64);
    int at = 0;
    while (at < keys.size()) {
      int run = Math.min(keys.size() - at, 1 + random.nextInt(6));
      Set<String> names = new HashSet<>();
      for (int copies = 1 + random.nextInt(3); copies > 0; copies--) {
        names.add("n" + random.nextInt(4));
      }
      List<BlockKey> part = keys.subList(at, at + run);
      names.forEach(name -> nodes.node(name).put(part));
      part.forEach(key -> where.put(key, names));
      at += run;
    }
    return nodes;
  }

  private void readWindows(long seed) {
    Random random = new Random(seed);
    List<BlockKey> keys = keys(0, 24);
    Map<BlockKey, Set<String>> where = new HashMap<>();
    ClusterOfTiers nodes = scattered(random, keys, where);
    Deaths deaths = new Deaths(random, nodes, 12);
    List<BlockKey> got = requireNonNull(Flux.using(BlockScope::new,
        scope -> over(nodes, seed).lease(keys, OnMiss.SKIP, scope)
            .flatMapMany(lease -> lease.windows(1 + random.nextInt(5), scope))
            .concatMapIterable(window -> window, 1).map(leased -> {
              deaths.step();
              Blocks.assertBytes(leased.block());
              assertThat(leased.block().key()).isEqualTo(keys.get(leased.position()));
              leased.block().close();
              return leased.block().key();
            }),
        BlockScope::close).collectList().block(PATIENCE));
    assertThat(got).isSubsetOf(keys).doesNotHaveDuplicates().isSortedAccordingTo(keyOrder(keys));
    assertThat(got).containsAll(survivors(keys, where, deaths));
    requireNothingHeld(nodes);
  }

  private void readSlices(long seed) {
    Random random = new Random(seed);
    List<BlockKey> keys = keys(0, 24);
    Map<BlockKey, Set<String>> where = new HashMap<>();
    ClusterOfTiers nodes = scattered(random, keys, where);
    Deaths deaths = new Deaths(random, nodes, 40);
    int sliceBytes = List.of(16, 64, 100, 200, 1024).get(random.nextInt(5));
    SliceShape shape = new SliceShape(1 + random.nextInt(6), sliceBytes, random.nextBoolean()
        ? SliceShape.Order.LAYER_FIRST
        : SliceShape.Order.BLOCK_FIRST, 0);
    Map<BlockKey, Integer> bytes = new HashMap<>();
    Set<String> seen = new HashSet<>();
    List<Integer> windows = new ArrayList<>();
    boolean whole = true;
    try {
      Flux.using(BlockScope::new, scope -> over(nodes, seed).lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.slices(shape, scope)).doOnNext(slice -> {
            deaths.step();
            take(slice, keys, bytes, seen);
            windows.add(slice.place().window());
            slice.close();
          }), BlockScope::close).blockLast(PATIENCE);
    } catch (RuntimeException e) { // a window that no node can make whole
      assertThat(e).hasMessageContaining("died");
      whole = false;
    }
    assertThat(windows).isSorted();
    if (whole) {
      assertThat(bytes.values()).allMatch(count -> count == SPACE.layout().blockBytes());
      assertThat(bytes.keySet()).containsAll(survivors(keys, where, deaths));
    }
    requireNothingHeld(nodes);
  }

  private static void take(LayerSlice slice, List<BlockKey> keys, Map<BlockKey, Integer> bytes, Set<String> seen) {
    for (int i = 0; i < slice.spans().size(); i++) {
      LayerSpan span = slice.spans().get(i);
      assertThat(span.key()).isEqualTo(keys.get(slice.position(i)));
      Blocks.assertBytes(span);
      assertThat(seen.add(span.key() + " " + span.range())).as("no byte twice").isTrue();
      bytes.merge(span.key(), span.bytes(), Integer::sum);
    }
  }

  private static Comparator<BlockKey> keyOrder(List<BlockKey> keys) {
    return Comparator.comparing(keys::indexOf);
  }

  private static List<BlockKey> survivors(List<BlockKey> keys, Map<BlockKey, Set<String>> where, Deaths deaths) {
    return keys.stream().filter(key -> !deaths.dead.containsAll(requireNonNull(where.get(key)))).toList();
  }

  private static void requireNothingHeld(ClusterOfTiers nodes) {
    assertThat(nodes.claimedSlots()).isEqualTo(nodes.visibleBlocks());
  }

  /// Kills two nodes at random steps.
  private static final class Deaths {
    private final Set<String> dead = new HashSet<>();
    private final ClusterOfTiers nodes;
    private final List<Integer> at;
    private final Random random;
    private int steps;

    Deaths(Random random, ClusterOfTiers nodes, int within) {
      this.random = random;
      this.nodes = nodes;
      this.at = List.of(random.nextInt(within), random.nextInt(within));
    }

    void step() {
      at.stream().filter(step -> step == steps).forEach(now -> {
        String name = "n" + random.nextInt(4);
        dead.add(name);
        nodes.node(name).mortal.die();
      });
      steps++;
    }
  }
}
