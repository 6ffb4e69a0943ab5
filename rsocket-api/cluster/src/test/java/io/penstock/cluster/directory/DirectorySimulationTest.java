package io.penstock.cluster.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.cluster.directory.SimulatedCluster.Node;
import io.penstock.testkit.Blocks;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The directory over a simulated map: members that come, die, start again, are slow and are cut off, clocks that jump,
/// calls that fail or come late, tiers that change meanwhile.
final class DirectorySimulationTest {
  private static final int STEPS = 120;
  private static final int MEMBERS = 5;
  private static final int LOG = 100;
  private static final int MOST_SLOW_MILLIS = 3000;
  private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 150);

  @Test
  void afterFaults_theDirectoryNamesExactlyWhatIsThere() {
    for (long seed = Long.getLong("penstock.seed", 1); seed <= Math.max(25, Long.getLong("penstock.seed", 1)); seed++) {
      new Run(seed).go();
    }
  }

  @Test
  @Tag("proof")
  void afterFaults_theDirectoryNamesExactlyWhatIsThere_inManyRuns() {
    for (long seed = Long.getLong("penstock.seed", 100); seed < 10_100; seed++) {
      new Run(seed).go();
    }
  }

  private static final class Run {
    private final long seed;
    private final SplittableRandom random;
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final SimulatedCluster cluster;
    private final List<Party> parties = new ArrayList<>();
    private int names;

    Run(long seed) {
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      this.cluster = new SimulatedCluster(time, random.split());
    }

    void go() {
      try {
        for (int i = 0; i < MEMBERS; i++) {
          start();
        }
        for (int i = 0; i < STEPS; i++) {
          step();
          time.advanceTimeBy(Duration.ofMillis(random.nextInt(4) == 0 ? random.nextInt(5000) : random.nextInt(20)));
          if (i % 4 == 0) {
            checkTheDead();
          }
        }
        cluster.fail(0);
        cluster.quicken();
        cluster.heal();
        time.advanceTimeBy(Duration.ofMinutes(2));
        checkAll();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      } finally {
        time.dispose();
      }
    }

    private void step() {
      Party any = parties.get(random.nextInt(parties.size()));
      switch (random.nextInt(40)) {
        case 0, 1 -> kill(any);
        case 2, 3, 8 -> start();
        case 9 -> cluster.cut(any.node, random.nextInt(3));
        case 4, 5 -> cluster.heal();
        case 6 -> cluster.fail(random.nextInt(4) * 0.05);
        case 7 -> any.tier.lower(ModelTier.SSD);
        case 10 -> any.tier.raise(ModelTier.SSD);
        case 11 -> restart(any);
        case 12 -> cluster.slow(any.node, random.nextInt(MOST_SLOW_MILLIS));
        case 13 -> cluster.quicken();
        case 14 -> any.clock.step(random.nextLong(-HOUR_NANOS, HOUR_NANOS));
        default -> {
          for (int i = random.nextInt(30); i >= 0; i--) {
            change(any.tier, KEYS.get(random.nextInt(KEYS.size())));
          }
        }
      }
    }

    private void change(ModelTier tier, BlockKey key) {
      switch (random.nextInt(4)) {
        case 0 -> tier.put(key, ModelTier.DRAM);
        case 1 -> tier.put(key, ModelTier.SSD);
        case 2 -> tier.put(key, ModelTier.DRAM, ModelTier.SSD);
        default -> tier.evict(key);
      }
    }

    private void start() {
      if (cluster.alive().size() < MEMBERS) {
        parties.add(new Party("n" + names++, new ModelTier(LOG)));
      }
    }

    private void kill(Party party) {
      if (parties.size() > 2) {
        cluster.kill(party.node);
        party.announcing.dispose();
        parties.remove(party);
      }
    }

    /// A node starts again some time after it died, under its name, with what its disk kept.
    private void restart(Party party) {
      kill(party);
      if (!parties.contains(party)) {
        time.schedule(() -> parties.add(new Party(party.node.name, party.tier)), random.nextInt(10_000),
            TimeUnit.MILLISECONDS);
      }
    }

    /// No member that died longer ago than it takes to see it is named.
    private void checkTheDead() {
      long now = time.now(TimeUnit.MILLISECONDS);
      for (Party party : parties) {
        Located located = party.locate.locate(KEYS).block();
        for (Member member : located.members()) {
          if (!isNamedRightly(member, now)) {
            throw new AssertionError(member + " is named at " + now + " by " + party.node);
          }
        }
      }
    }

    private boolean isNamedRightly(Member member, long now) {
      return parties.stream().anyMatch(party -> party.node.address == member.generation())
          || cluster.diedSince(member.generation(), now - SimulatedCluster.SEEN_CUT.toMillis());
    }

    private void checkAll() {
      for (Party party : parties) {
        Located located = party.locate.locate(KEYS).block();
        for (int i = 0; i < KEYS.size(); i++) {
          Map<String, Integer> told = new TreeMap<>();
          located.holders(i)
              .forEach(holder -> told.put(located.members().get(holder.member()).name(), holder.level()));
          Map<String, Integer> real = holders(KEYS.get(i));
          if (!told.equals(real)) {
            throw new AssertionError(
                "key " + i + " must be at " + real + " as " + party.node + " sees it (was " + told + ")");
          }
        }
        assertThat(party.node.unknown(party.node.members()::isKnown).block()).as("rounds that do not count, at %s",
            party.node).isEmpty();
      }
    }

    private Map<String, Integer> holders(BlockKey key) {
      Map<String, Integer> holders = new TreeMap<>();
      for (Party party : parties) {
        if (party.tier.levelOf(key) >= 0) {
          holders.put(party.node.name, party.tier.levelOf(key));
        }
      }
      return holders;
    }

    /// A node with its tier.
    private final class Party {
      private final Node node;
      private final ModelTier tier;
      private final SteppedClock clock = new SteppedClock(time);
      private final Locate locate;
      private final Disposable announcing;

      Party(String name, ModelTier tier) {
        this.tier = tier;
        node = cluster.join(name);
        BlockNames blockNames = new BlockNames(new byte[BlockNames.SECRET_BYTES]);
        locate = new Locate(node, blockNames, node::members);
        Sweep sweep = new Sweep(node, node::members, Duration.ofSeconds(10), time);
        node.onSegments = sweep::want;
        sweep.want();
        KnownMembers[] before = {node.members()};
        node.onMembers = () -> {
          KnownMembers now = node.members();
          if (now.lacksRoundsOf(before[0])) {
            sweep.want();
          }
          before[0] = now;
        };
        AnnounceTerms terms =
            new AnnounceTerms(16, 64, Duration.ofMillis(3), Duration.ofMillis(300), Duration.ofMillis(100));
        announcing = new Announcer(new AnnounceParts(node, blockNames, node, new Pace(400, 16, clock), terms,
            () -> random.nextLong() >>> 1, time)).announce(tier).subscribe();
      }
    }
  }
}
