package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.file.Directories;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Files of deleted segments are written anew, and end anywhere in what they held before: that is no damage, whenever
/// the writer is ended.
@Timeout(600)
final class WrittenAnewTest {
  private static final CacheSpace SPACE = CacheSpace.of("anew", BlockLayout.attention(2, 16, 2, 32, ElementType.BF16));
  private static final int SPARES = 2;
  private static final int LIVE = 100;

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 4, 4));

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void aWriterThatIsEndedAnywhere_leavesNoDamage(EngineKind engine) {
    run(engine, 42, 1_000, 20);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void aWriterThatIsEndedAnywhere_atLength_leavesNoDamage(EngineKind engine) {
    for (long seed = 1; seed <= 10; seed++) {
      run(engine, seed, 5_000, 2);
    }
  }

  private void run(EngineKind engine, long seed, int steps, int each) {
    Random random = new Random(seed);
    Path journal = temporary.resolve(engine + "-" + seed);
    JournalOptions options =
        JournalOptions.defaults(journal).withEngine(engine).withSegmentBytes(1 << 20).withDurability(SyncRule.none());
    JournalStore store = JournalStore.open(SPACE, options,
        engine.open(journal, options.segments().withSpareSegments(SPARES)), Runnable::run, Runnable::run);
    ArrayDeque<StoredBlock> live = new ArrayDeque<>();
    try {
      for (int step = 0; step < steps; step++) {
        live.add(put(store, step));
        if (live.size() > LIVE && random.nextInt(3) == 0) {
          for (int i = random.nextInt(6); i >= 0; i--) {
            live.remove().close();
          }
          store.flush().block();
        }
        if (step % each == 0) {
          assertClean(journal, "seed " + seed + ", step " + step);
        }
      }
    } finally {
      store.close().block();
    }
    assertThat(JournalCheck.run(journal, CheckProgress.none()).damage()).as("seed %d, closed", seed).isEmpty();
  }

  private StoredBlock put(JournalStore store, long number) {
    BlockKey key = Blocks.key(SPACE, number);
    try (Block block = Blocks.block(arena, key)) {
      return requireNonNull(store.put(List.of(block)).block()).getFirst();
    }
  }

  /// Nothing is under way: what the files hold now is what a writer leaves that is ended now.
  private void assertClean(Path journal, String when) {
    Path copy = Directories.copy(journal, temporary.resolve("copy"));
    assertThat(JournalCheck.run(copy, CheckProgress.none()).damage()).as(when).isEmpty();
    try (Stream<Path> files = Files.walk(copy)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
