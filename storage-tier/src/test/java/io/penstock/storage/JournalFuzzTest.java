package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.engine.Directories;
import io.penstock.storage.record.Mutations;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Rest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Damaged segment files: a journal opens with what is left, or refuses with a typed error; no wrong byte is ever given out.
@Timeout(600)
final class JournalFuzzTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());

  @TempDir Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 64, 64));
  private int blocksRead;
  private int refused;

  @ParameterizedTest
  @CsvSource({"PLAIN, 3000", "CHRONICLE, 1000"})
  void damaged_4000Times_givesNoWrongByte(EngineKind engine, long times) throws IOException {
    fuzz(engine, 0, times);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_200000Times_givesNoWrongByte(EngineKind engine) throws IOException {
    fuzz(engine, 1_000_000, 1_200_000);
  }

  private void fuzz(EngineKind engine, long fromSeed, long toSeed) throws IOException {
    Path whole = temporary.resolve("whole");
    JournalOptions options = JournalOptions.defaults(whole).withEngine(engine).withSegmentBytes(1 << 20).withIoThreads(1);
    Set<BlockKey> written = write(options);
    Path original = Directories.last(whole, engine == EngineKind.PLAIN ? ".log" : ".cq4");
    byte[] bytes = Files.readAllBytes(original);
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path damaged = Directories.copy(whole, temporary.resolve("damaged"));
      Path file = damaged.resolve(whole.relativize(original));
      Files.delete(file); // a new one: file systems push out at once what replaces a file in its place
      Files.write(file, Mutations.mutate(bytes, new Random(seed)), StandardOpenOption.CREATE_NEW);
      try {
        read(new JournalOptions("ssd", damaged, engine, options.segments(), 1, 64, 64, options.durability()), written);
      } catch (KvException e) {
        refused++;
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      delete(damaged);
    }
    assertThat(blocksRead).as("blocks read, %d times refused", refused).isGreaterThan((int) (toSeed - fromSeed));
  }

  private Set<BlockKey> write(JournalOptions options) {
    JournalStore store = JournalStore.open(SPACE, options);
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 12);
    List<Block> blocks = keys.stream().map(key -> Blocks.block(arena, key)).toList();
    List<Rest> rests = Objects.requireNonNull(store.put(blocks).block());
    blocks.forEach(Block::close);
    rests.get(3).close();
    store.close().block();
    return new HashSet<>(keys);
  }

  private void read(JournalOptions options, Set<BlockKey> written) {
    JournalStore store = JournalStore.open(SPACE, options, options.engine().open(options.directory(), options.segments()),
        Runnable::run, Runnable::run);
    try {
      List<Rest> rests = store.recovered();
      assertThat(written).containsAll(rests.stream().map(Rest::key).toList());
      rests.forEach(rest -> read(store, rest));
    } finally {
      store.close().block();
    }
  }

  private void read(JournalStore store, Rest rest) {
    try (BlockDraft draft = Blocks.draft(arena, rest.key())) {
      store.read(List.of(rest), List.of(draft), ALL).block();
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
        blocksRead++;
      }
    } catch (KvException e) {
      refused++;
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
