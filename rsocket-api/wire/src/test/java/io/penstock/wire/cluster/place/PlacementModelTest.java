package io.penstock.wire.cluster.place;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Conversations over members that each evict what was not used for the longest time, in a model: figures come up to
/// two and a half seconds late, as in a cluster.
final class PlacementModelTest {
  private static final int MEMBERS = 8;
  private static final int ROOM = 1_024;
  private static final long BLOCK = 4_096;
  private static final int REQUESTS = 1_000;
  private static final long BETWEEN_MILLIS = 30;
  private static final long TELLS_EACH_MILLIS = 1_000;
  private static final long VIEW_EACH_MILLIS = 540;

  /// Blocks by number, the one that leaves next first, with the time of their last use.
  private static final class Lru {
    private final LinkedHashMap<Integer, Long> uses = new LinkedHashMap<>(16, 0.75f, true);
    private final int room;

    Lru(int room) {
      this.room = room;
    }

    boolean has(int block) {
      return uses.containsKey(block);
    }

    void use(int block, long millis) {
      uses.put(block, millis);
      if (uses.size() > room) {
        uses.pollFirstEntry();
      }
    }

    Member.Figures figures(long millis) {
      return new Member.Figures(uses.size() * BLOCK, room * BLOCK, 0,
          uses.size() < room ? 0 : millis - requireNonNull(uses.firstEntry()).getValue());
    }
  }

  /// Prompts of conversations: each turn repeats those before it, and some come back late.
  private static List<int[]> prompts(SplittableRandom random) {
    List<int[]> prompts = new ArrayList<>();
    List<int[]> open = new ArrayList<>();
    int next = 0;
    while (prompts.size() < REQUESTS) {
      int[] before = open.isEmpty() || random.nextInt(5) < 2
          ? new int[0]
          : open.remove(open.size() - 1 - Math.min(open.size() - 1, (int) (-40 * Math.log(random.nextDouble()))));
      int more = 2 + (int) (-14 * Math.log(random.nextDouble())) + (random.nextInt(50) == 0 ? 150 : 0);
      int[] prompt = Arrays.copyOf(before, before.length + more);
      for (int i = before.length; i < prompt.length; i++) {
        prompt[i] = next++;
      }
      prompts.add(prompt);
      open.add(prompt);
    }
    return prompts;
  }

  private static int prefix(int[] prompt, IntPredicate has) {
    int prefix = 0;
    while (prefix < prompt.length && has.test(prompt[prefix])) {
      prefix++;
    }
    return prefix;
  }

  private static final class Cluster {
    private final List<Lru> nodes = IntStream.range(0, MEMBERS).mapToObj(i -> new Lru(ROOM)).toList();
    private final long[] phases;
    private final Member.Figures[] looked = new Member.Figures[MEMBERS];
    private final Member.Figures[] told = new Member.Figures[MEMBERS];
    private final Placement placement;
    private List<Member> view = List.of();
    private long millis = -1;

    Cluster(SplittableRandom random) {
      placement = new Placement("", random.split(), () -> millis);
      phases = random.longs(2 * MEMBERS, 0, TELLS_EACH_MILLIS).toArray();
      for (int i = 0; i < MEMBERS; i++) {
        looked[i] = nodes.get(i).figures(0);
        told[i] = looked[i];
      }
    }

    void goTo(long then) {
      while (millis < then) {
        millis++;
        for (int i = 0; i < MEMBERS; i++) {
          if (millis % TELLS_EACH_MILLIS == phases[i]) {
            looked[i] = nodes.get(i).figures(millis);
          }
          if (millis % TELLS_EACH_MILLIS == phases[MEMBERS + i]) {
            told[i] = looked[i];
          }
        }
        if (millis % VIEW_EACH_MILLIS == 0) {
          view = IntStream.range(0, MEMBERS)
              .mapToObj(i -> new Member("n" + i, 1, List.of(), "", Member.State.UP, told[i])).toList();
        }
      }
    }

    private int holder(int block) {
      return IntStream.range(0, MEMBERS).filter(i -> nodes.get(i).has(block)).findFirst().orElse(-1);
    }

    int request(int[] prompt) {
      int prefix = prefix(prompt, block -> holder(block) >= 0);
      Member before = prefix == 0 ? null : view.get(holder(prompt[prefix - 1]));
      for (int i = 0; i < prefix; i++) {
        nodes.get(holder(prompt[i])).use(prompt[i], millis);
      }
      put(IntStream.of(prompt).skip(prefix).filter(block -> holder(block) < 0).toArray(), prefix, before);
      return prefix;
    }

    private void put(int[] blocks, int prefix, @Nullable Member end) {
      Member before = prefix >= blocks.length ? end : null;
      int most = placement.portion(view, new Placement.Wish(blocks.length * BLOCK, before, null), BLOCK);
      for (int from = 0; from < blocks.length; from += Math.min(most, blocks.length)) {
        int[] portion = Arrays.copyOfRange(blocks, from, from + Math.min(most, blocks.length - from));
        long bytes = portion.length * BLOCK;
        Member at = requireNonNull(placement.targets(view, new Placement.Wish(bytes, before, null)).next());
        placement.given(view, at, bytes);
        IntStream.of(portion).forEach(block -> nodes.get(view.indexOf(at)).use(block, millis));
      }
    }
  }

  private static double ratio(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Cluster cluster = new Cluster(random);
    Lru lone = new Lru(MEMBERS * ROOM);
    long hits = 0;
    long wanted = 0;
    long millis = 0;
    for (int[] prompt : prompts(random)) {
      cluster.goTo(millis);
      hits += cluster.request(prompt);
      wanted += prefix(prompt, lone::has);
      long now = millis;
      IntStream.of(prompt).forEach(block -> lone.use(block, now));
      millis += BETWEEN_MILLIS;
    }
    return (double) hits / wanted;
  }

  @Test
  void membersTogether_haveTheHitsOfOneOfTheirSum() {
    List<Double> ratios = LongStream.range(0, 16).mapToObj(PlacementModelTest::ratio).toList();
    assertThat(ratios).as("hits by those of one LRU, seeds 0 to 15").allMatch(ratio -> ratio >= 0.95);
    assertThat(ratios.stream().mapToDouble(ratio -> ratio).average().orElse(0)).as("average of %s", ratios)
        .isGreaterThanOrEqualTo(0.985);
  }
}
