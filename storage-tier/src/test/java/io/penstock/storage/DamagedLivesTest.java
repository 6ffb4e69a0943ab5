package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.storage.JournalModel.Written;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.file.Directories;
import io.penstock.storage.index.JournalRecovery;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Journals that live many lives, each ended in order or by a kill, with damage in between: what is whole is there,
/// what was removed is not unless its removal was damaged, what is missing is told of, and nothing grows.
@Timeout(900)
final class DamagedLivesTest {
  private static final CacheSpace SPACE = CacheSpace.of("lives", BlockLayout.attention(2, 8, 4, 64, ElementType.BF16));
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int SEGMENT = 1 << 20;
  private static final int KEYS = 100;
  private static final int STEPS = 16;
  private static final int LIVES = 20;

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 16, 4));
  private final List<String> done = new ArrayList<>();
  private Path home = Path.of("");
  private EngineKind kind = EngineKind.PLAIN;
  private SyncRule rule = SyncRule.none();
  private Random random = new Random(0);
  private JournalModel model = new JournalModel(0);
  private int deaths;
  /// Records until this life is killed.
  private int left;
  private @Nullable Path killed;
  private JournalModel killedModel = model;

  @ParameterizedTest
  @CsvSource({"PLAIN, 2", "CHRONICLE, 1"})
  void journal_isWhatWasWrittenToIt_lessWhatWasDamaged(EngineKind engine, int journals) throws IOException {
    live(engine, 0, journals);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"PLAIN, 300", "CHRONICLE, 300"})
  void journal_atLength_isWhatWasWrittenToIt_lessWhatWasDamaged(EngineKind engine, int journals) throws IOException {
    live(engine, 1_000_000, journals);
  }

  void live(EngineKind engine, long fromSeed, int journals) throws IOException {
    kind = engine;
    for (long seed = fromSeed; seed < fromSeed + journals; seed++) {
      random = new Random(seed);
      rule = random.nextBoolean() ? SyncRule.none() : SyncRule.defaults();
      model = new JournalModel(kind == EngineKind.PLAIN ? 0 : 4);
      home = temporary.resolve("journal-" + seed);
      done.clear();
      try {
        for (int life = 0; life < LIVES; life++) {
          live();
          for (int times = random.nextInt(3); times > 0; times--) {
            new JournalDamage(home, model, random, done).any();
          }
        }
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine + ", " + rule.mode() + ": " + String.join("; ", done),
            e);
      }
      JournalSample.delete(home);
    }
  }

  private JournalOptions options() {
    return JournalOptions.defaults(home).withEngine(kind).withSegmentBytes(SEGMENT).withDurability(rule);
  }

  private void live() throws IOException {
    List<Written> must = model.must();
    Set<Written> removed = model.all().filter(each -> each.removed).collect(Collectors.toSet());
    Set<BlockKey> maybe =
        model.all().filter(each -> each.isBlock() && !each.removed).map(each -> each.key).collect(Collectors.toSet());
    JournalModel before = model.copy();
    Set<BlockKey> silent = model.silent();
    long highest = model.highest();
    model.all().forEach(Written::unknown);
    left = random.nextInt(3) == 0 ? Integer.MAX_VALUE : 1 + random.nextInt(STEPS * 5);
    killed = null;
    JournalOptions options = options();
    JournalStore store = JournalStore.open(SPACE, options,
        model.watch(kind.open(home, options.engineOptions()), this::appended), new SerialExecutor(),
        Runnable::run);
    try {
      Map<BlockKey, StoredBlock> storedBlocks = new LinkedHashMap<>();
      for (StoredBlock stored : store.recovered()) {
        assertThat(storedBlocks.put(stored.key(), stored)).as("%s twice", stored).isNull();
        boolean sound =
            given(stored, record -> record.sequence > highest ? maybe.contains(record.key) : !removed.contains(record));
        if (!sound) {
          requireNonNull(storedBlocks.remove(stored.key())).close();
        }
      }
      must.forEach(each -> assertThat(storedBlocks).as("%s, which is whole", each).containsKey(each.key));
      JournalRecovery found = store.recovery();
      done.add("opened " + found);
      List<BlockKey> missing =
          model.live.stream().filter(key -> !storedBlocks.containsKey(key) && !silent.contains(key)).toList();
      assertThat(missing.isEmpty() || found.dropped() + found.tornSegments() + store.diskStat().damaged() > 0)
          .as("missing, and not told of: %s", missing.stream().map(before::records).toList()).isTrue();
      model.live.clear();
      model.live.addAll(storedBlocks.keySet());
      killedModel.live.retainAll(storedBlocks.keySet()); // if the opening was killed, it had told
      if (random.nextBoolean()) {
        read(store, storedBlocks);
      }
      for (int step = 0; step < STEPS && killed == null; step++) {
        work(store, storedBlocks);
      }
    } finally {
      store.close().block(PATIENCE);
    }
    if (killed == null) {
      ended();
    } else {
      done.add("killed");
      JournalSample.delete(home);
      home = killed;
      model = killedModel;
    }
  }

  /// An opening gave `stored`.
  ///
  /// @return false if it was to be moved at once, and found damaged
  private boolean given(StoredBlock stored, Predicate<Written> mayBe) {
    try {
      Written record = model.at(((StoredRecord) stored).at());
      assertThat(record).as("what lies where %s is: %s", stored, ((StoredRecord) stored).at()).isNotNull()
          .matches(each -> each.key.equals(stored.key()));
      assertThat(requireNonNull(record)).as("was removed").matches(mayBe);
      record.seen = true;
      return true;
    } catch (KvException e) {
      done.add("lost when opened: " + stored);
      return false;
    }
  }

  private void ended() {
    done.add("ended");
    assertRemoved();
    long records = model.live.size();
    long most = 4 + (long) (1.5 * records * RecordFormat.recordBytes(SPACE.layout()) / SEGMENT);
    assertThat(model.segments.size()).as("segments for %d blocks", records)
        .isLessThanOrEqualTo((int) most);
    assertThat(model.names()).as("names in removals, of %d blocks", model.blocks())
        .isLessThanOrEqualTo(2 * model.blocks() + 256);
  }

  private void assertRemoved() {
    assertThat(model.all().filter(each -> each.givenUp && !each.removed)).as("given up, and no removal says so")
        .isEmpty();
  }

  /// A kill falls behind the last bytes of a record, or before.
  private void appended() {
    if (--left == 0) {
      killed = Directories.copy(home, temporary.resolve("life-" + deaths++));
      killedModel = model.copy();
      if (random.nextInt(3) == 0) {
        new JournalDamage(killed, killedModel, random, done).unfinished();
      }
    }
  }

  private void work(JournalStore store, Map<BlockKey, StoredBlock> storedBlocks) {
    int draw = random.nextInt(10);
    if (draw < 5) {
      put(store, storedBlocks);
    } else if (draw < 8) {
      storedBlocks.keySet().stream().filter(key -> random.nextInt(5) == 0).toList().forEach(key -> {
        model.live.remove(key);
        giveUp(requireNonNull(storedBlocks.remove(key)));
      });
    } else if (draw == 8) {
      store.flush().block(PATIENCE);
      assertRemoved();
    } else {
      read(store, storedBlocks);
    }
  }

  /// Null if it was found damaged, and is lost.
  private @Nullable Written record(StoredBlock stored) {
    try {
      return model.at(((StoredRecord) stored).at());
    } catch (KvException e) {
      return null;
    }
  }

  private void giveUp(StoredBlock stored) {
    Written record = record(stored);
    if (record != null) {
      record.givenUp = true;
    }
    stored.close();
  }

  private void put(JournalStore store, Map<BlockKey, StoredBlock> storedBlocks) {
    Set<BlockKey> keys = new HashSet<>();
    for (int i = 1 + random.nextInt(12); i > 0; i--) {
      keys.add(Blocks.key(SPACE, random.nextInt(KEYS)));
    }
    List<Block> blocks = keys.stream().map(key -> Blocks.block(arena, key)).toList();
    List<StoredBlock> put = requireNonNull(store.put(blocks).block(PATIENCE));
    blocks.forEach(Block::close);
    for (StoredBlock stored : put) {
      model.live.add(stored.key());
      StoredBlock older = storedBlocks.put(stored.key(), stored);
      if (older != null && random.nextInt(4) > 0) {
        giveUp(older);
      }
    }
  }

  /// Whatever is served is right, and what is not, was damaged.
  private void read(JournalStore store, Map<BlockKey, StoredBlock> storedBlocks) {
    for (StoredBlock stored : List.copyOf(storedBlocks.values())) {
      Written record = record(stored);
      try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
        store.read(List.of(stored), List.of(draft), ALL).block(PATIENCE);
        try (Block block = draft.seal()) {
          Blocks.assertBytes(block);
        }
      } catch (KvException e) {
        assertThat(record == null || !record.whole).as("%s is whole: %s", record, e).isTrue();
        model.live.remove(stored.key());
        storedBlocks.remove(stored.key());
        stored.close();
      }
    }
  }
}
