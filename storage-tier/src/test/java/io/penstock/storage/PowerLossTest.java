package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.Directories;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The machine fails, over and over, between any two things that an engine does: what was on the medium by its rule is
/// there, removals that were are too, and whatever is visible is whole.
@Timeout(900)
final class PowerLossTest {
  private static final CacheSpace SPACE = CacheSpace.of("power", BlockLayout.attention(2, 16, 4, 64, ElementType.BF16));
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int SEGMENT = 1 << 20;
  private static final int STEPS = 60;
  private static final int CUTS_A_LIFE = 8;

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 16, 4));
  private Random random = new Random(0);
  private SyncRule rule = SyncRule.none();
  private EngineKind kind = EngineKind.PLAIN;
  private int cuts;
  private int judged;
  private long must;

  /// What is owed now: true if it must be there, false if it may.
  private Map<Long, Boolean> owed = new TreeMap<>();
  /// Of what is owed after the next sync, where that differs; null for what must not be there.
  private final Map<Long, Boolean> acked = new TreeMap<>();
  private final Set<Long> removed = new HashSet<>();
  private long next;

  @ParameterizedTest
  @CsvSource({"PLAIN, ALWAYS, 12", "CHRONICLE, ALWAYS, 12", "PLAIN, INTERVAL, 12", "CHRONICLE, INTERVAL, 12",
    "PLAIN, NONE, 8", "CHRONICLE, NONE, 8"})
  void cut_keepsWhatTheRulePromised(EngineKind engine, SyncMode mode, int times) throws IOException {
    cutOverAndOver(engine, mode, 0, times);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"PLAIN, ALWAYS, 1000", "CHRONICLE, ALWAYS, 1000", "PLAIN, INTERVAL, 1000", "CHRONICLE, INTERVAL, 1000",
    "PLAIN, NONE, 500",
    "CHRONICLE, NONE, 500"})
  void cut_atLength_keepsWhatTheRulePromised(EngineKind engine, SyncMode mode, int times) throws IOException {
    cutOverAndOver(engine, mode, 1_000_000, times);
  }

  private void cutOverAndOver(EngineKind engine, SyncMode mode, long fromSeed, int times) throws IOException {
    kind = engine;
    rule = SyncRule.interval(Duration.ofMillis(100), 3 << 19).withMode(mode);
    Path home = temporary.resolve("home");
    for (long seed = fromSeed; judged < times; seed++) {
      random = new Random(seed);
      try {
        Path left = live(home, seed);
        JournalSample.delete(home);
        home = left;
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine + ", " + mode, e);
      }
    }
    assertThat(must).as("blocks that had to be there").isGreaterThan(mode == SyncMode.NONE ? -1 : times);
  }

  private JournalOptions options(Path directory) {
    return JournalOptions.defaults(directory).withEngine(kind).withSegmentBytes(SEGMENT).withDurability(rule)
        .withReclaim(ReclaimOptions.defaults().withCapacityBytes(8L * SEGMENT).withBytesPerSecond(1L << 40));
  }

  /// One life of a journal, with cuts at some of its steps; answers a directory that one of them left, to go on with.
  private Path live(Path home, long seed) throws IOException {
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    int[] left = {1 + random.nextInt(40)};
    List<Path> results = new ArrayList<>();
    PowerLoss[] holder = new PowerLoss[1];
    Map<String, byte[]> medium = PowerLoss.files(home);
    SegmentEngine files = kind.open(home, options(home).segments());
    PowerLoss engine = new PowerLoss(files, home, medium, () -> {
      left[0]--;
      if (left[0] == 0 && results.size() < CUTS_A_LIFE) {
        left[0] = 1 + random.nextInt(60);
        results.add(judge(requireNonNull(holder[0]), seed));
      }
    });
    holder[0] = engine;
    engine.afterSync(this::synced);
    JournalStore store = JournalStore.open(SPACE, options(home), engine, new SerialExecutor(), Runnable::run, time);
    Map<Long, StoredBlock> storedBlocks = new TreeMap<>();
    for (StoredBlock stored : store.recovered()) {
      storedBlocks.put(stored.key().hash().low(), stored);
    }
    for (int step = 0; step < STEPS; step++) {
      work(store, storedBlocks, time);
    }
    Path last = judge(engine, seed);
    Map<Long, Boolean> after = new TreeMap<>(owed);
    store.close().block(PATIENCE);
    owed = after;
    settle(last);
    for (Path each : results) {
      JournalSample.delete(each);
    }
    return last;
  }

  private void work(JournalStore store, Map<Long, StoredBlock> storedBlocks, VirtualTimeScheduler time) {
    int draw = random.nextInt(10);
    if (draw < 5 || storedBlocks.isEmpty()) {
      put(store, storedBlocks);
    } else if (draw < 8) {
      remove(store, storedBlocks);
    } else {
      time.advanceTimeBy(Duration.ofMillis(random.nextInt(150)));
    }
  }

  private void put(JournalStore store, Map<Long, StoredBlock> storedBlocks) {
    List<Long> numbers = new ArrayList<>();
    for (int i = 1 + random.nextInt(12); i > 0; i--) {
      numbers.add(next++);
    }
    numbers.forEach(number -> owed.put(number, false));
    List<Block> blocks = numbers.stream().map(number -> Blocks.block(arena, key(number))).toList();
    try {
      List<StoredBlock> put = requireNonNull(store.put(blocks).block(PATIENCE));
      for (int i = 0; i < put.size(); i++) {
        storedBlocks.put(numbers.get(i), put.get(i));
        acked.put(numbers.get(i), true);
      }
      if (rule.mode() == SyncMode.ALWAYS) {
        promised(); // a receipt says forced
      }
    } catch (StorageFullException e) {
      remove(store, storedBlocks);
    } finally {
      blocks.forEach(Block::close);
    }
  }

  private void remove(JournalStore store, Map<Long, StoredBlock> storedBlocks) {
    List<Long> numbers = storedBlocks.keySet().stream().filter(number -> random.nextInt(4) == 0).toList();
    for (long number : numbers) {
      owed.put(number, false);
      acked.remove(number);
      requireNonNull(storedBlocks.remove(number)).close();
    }
    store.flush().block(PATIENCE);
    removed.addAll(numbers);
    if (rule.mode() == SyncMode.ALWAYS) {
      promised();
    }
  }

  private void synced() {
    if (rule.mode() != SyncMode.NONE) {
      promised();
    }
  }

  /// What had its receipt, or whose removal was settled, is on the medium now.
  private void promised() {
    owed.putAll(acked);
    acked.clear();
    removed.forEach(owed::remove);
    removed.clear();
  }

  private static BlockKey key(long number) {
    return SPACE.key(new BlockHash(7, number));
  }

  /// The machine fails now.
  private Path judge(PowerLoss engine, long seed) {
    Path target = temporary.resolve("cut-" + cuts++);
    Random random = new Random(seed * 1_000 + cuts);
    double kept = switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> 1;
      case 2 -> 0.9;
      default -> 0.4;
    };
    engine.cut(target, random, kept);
    Path copy = Directories.copy(target, temporary.resolve("judged"));
    try {
      require(copy, "cut " + cuts + ", " + kept + " kept");
      JournalSample.delete(copy);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return target;
  }

  private void require(Path journal, String when) {
    judged++;
    Set<Long> found = found(journal, when);
    owed.forEach((number, sure) -> {
      if (sure) {
        must++;
        assertThat(found).as("%s: block %d", when, number).contains(number);
      }
    });
    assertThat(owed.keySet()).as(when).containsAll(found);
  }

  /// Whatever is visible is whole; where nothing is promised, it is whole or refused.
  private Set<Long> found(Path journal, String when) {
    Set<Long> found = new HashSet<>();
    JournalStore store = JournalStore.open(SPACE, options(journal), kind.open(journal, options(journal).segments()),
        new SerialExecutor(),
        Runnable::run);
    try {
      for (StoredBlock stored : store.recovered()) {
        if (read(store, stored, when) == null) {
          found.add(stored.key().hash().low());
        }
      }
      return found;
    } finally {
      store.close().block(PATIENCE);
    }
  }

  private @Nullable KvException read(JournalStore store, StoredBlock stored, String when) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      store.read(List.of(stored), List.of(draft), ALL).block(PATIENCE);
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
        return null;
      }
    } catch (KvException e) {
      assertThat(rule.mode()).as("%s: %s is visible in part", when, stored).isEqualTo(SyncMode.NONE);
      return e;
    }
  }

  /// The next life begins with what is there.
  private void settle(Path journal) throws IOException {
    Path copy = Directories.copy(journal, temporary.resolve("settled"));
    Set<Long> found = found(copy, "next life");
    JournalSample.delete(copy);
    acked.clear();
    removed.clear();
    if (rule.mode() == SyncMode.NONE) {
      owed.replaceAll((number, was) -> false); // older copies may show when newer ones are damaged
    } else {
      owed = new TreeMap<>();
      found.forEach(number -> owed.put(number, true));
    }
  }
}
