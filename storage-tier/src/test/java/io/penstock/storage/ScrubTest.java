package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.file.Directories;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Presence;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What is stored is read in the background, with a clock that stands still until it is moved.
@Timeout(120)
final class ScrubTest {
  private static final GranuleRange ALL = GranuleRange.all(JournalSample.SPACE.layout());
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int BLOCKS = 40;

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 4));
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private QuarantineBound bound = QuarantineBound.defaults();
  private JournalStore store;
  private List<StoredBlock> storedBlocks = List.of();

  private void open(EngineKind engine) {
    JournalOptions options =
        JournalOptions.defaults(temporary).withEngine(engine).withSegmentBytes(1 << 20).withDurability(SyncRule.none())
            .withQuarantine(bound);
    store = JournalStore.open(JournalSample.SPACE, options, engine.open(temporary, options.segments()),
        new SerialExecutor(), Runnable::run, time);
  }

  private void put() {
    List<Block> blocks =
        Blocks.keys(JournalSample.SPACE, 0, BLOCKS).stream().map(key -> Blocks.block(arena, key)).toList();
    storedBlocks = requireNonNull(store.put(blocks).block(PATIENCE));
    blocks.forEach(Block::close);
  }

  @AfterEach
  void close() {
    if (store != null) {
      store.close().block(PATIENCE);
    }
  }

  /// Flips a bit of the record of `stored`.
  private void flip(EngineKind engine, StoredBlock stored, Random random) throws IOException {
    Location at = ((StoredRecord) stored).at();
    Path file = Directories.last(temporary, engine == EngineKind.PLAIN ? ".log" : ".cq4");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      // What follows is the mark: the block is good without it
      long offset = at.offset() + random.nextInt(at.length() - 16);
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, offset);
      channel.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 1 << random.nextInt(8))}), offset);
    }
  }

  private void read(StoredBlock stored) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      store.read(List.of(stored), List.of(draft), ALL).block(PATIENCE);
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }
  }

  private boolean isWhole(StoredBlock stored) {
    try {
      read(stored);
      return true;
    } catch (BlockCorruptException e) {
      return false;
    }
  }

  private void assertLost(StoredBlock stored) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      StepVerifier.create(store.read(List.of(stored), List.of(draft), ALL)).expectError(BlockCorruptException.class)
          .verify(PATIENCE);
    }
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void flippedBits_areFoundInAPass_setAside_andStayGone(EngineKind engine) throws IOException {
    open(engine);
    put();
    Random random = new Random(5);
    for (int i = 0; i < BLOCKS; i += 4) {
      flip(engine, storedBlocks.get(i), random);
    }
    store.scrub(new ScrubOptions(1 << 20, Duration.ofHours(1)));
    time.advanceTimeBy(Duration.ofMinutes(1));

    assertThat(store.scrubbed().passes()).isEqualTo(1);
    assertThat(store.scrubbed().corrupt()).isEqualTo(BLOCKS / 4);
    assertThat(Files.readAllLines(temporary.resolve("quarantine/index.jsonl"))).hasSize(BLOCKS / 4);
    for (int i = 0; i < BLOCKS; i++) {
      if (i % 4 == 0) {
        assertLost(storedBlocks.get(i));
      } else {
        read(storedBlocks.get(i));
      }
    }
    close();
    open(engine);
    List<StoredBlock> again = store.recovered(); // a damaged head may have lied about whose it is
    assertThat(again).hasSizeBetween(BLOCKS - BLOCKS / 4, BLOCKS - BLOCKS / 4 + 2);
    assertThat(again.stream().filter(this::isWhole)).hasSize(BLOCKS - BLOCKS / 4);
  }

  @Test
  void fullQuarantine_keepsNoMore_countsAndSaysSo_andTheBlocksAreGoneAllTheSame() throws IOException {
    bound = new QuarantineBound(1 << 20, 3);
    open(EngineKind.PLAIN);
    put();
    Random random = new Random(6);
    for (int i = 0; i < 10; i++) {
      flip(EngineKind.PLAIN, storedBlocks.get(i), random);
    }
    store.scrub(new ScrubOptions(1 << 20, Duration.ofHours(1)));
    time.advanceTimeBy(Duration.ofMinutes(1));

    assertThat(Files.readAllLines(temporary.resolve("quarantine/index.jsonl"))).hasSize(3);
    assertThat(store.diskStat().damaged()).isEqualTo(10);
    assertThat(store.diskStat().damagedAtOpening()).isZero();
    assertThat(store.diskStat().unkept()).isEqualTo(7);
    assertThat(store.diskStat().problems()).singleElement().asString().contains(
        "quarantine: could not set damage aside",
        "must stay within 3 records");
    storedBlocks.subList(0, 10).forEach(this::assertLost);
    storedBlocks.subList(10, BLOCKS).forEach(this::read);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damagedBlock_isLostToTheTierOverIt_andTheOthersAreNot(EngineKind engine) throws IOException {
    open(engine);
    put();
    Location at = ((StoredRecord) storedBlocks.get(7)).at();
    store.close().block(PATIENCE);
    Path file = Directories.last(temporary, engine == EngineKind.PLAIN ? ".log" : ".cq4");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[8]), at.offset() + at.length() / 2);
    }
    open(engine);
    TierStack tier = new TierStack(JournalSample.SPACE, List.of(new StackLevel.Stored(store, 100)),
        StackOptions.defaults("ssd").withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
    List<BlockKey> keys = Blocks.keys(JournalSample.SPACE, 0, BLOCKS);
    assertThat(requireNonNull(tier.contains(keys).block(PATIENCE)).count()).isEqualTo(BLOCKS);

    store.scrub(new ScrubOptions(1 << 20, Duration.ofHours(1)));
    time.advanceTimeBy(Duration.ofMinutes(1));

    Presence there = requireNonNull(tier.contains(keys).block(PATIENCE));
    assertThat(there.count()).isEqualTo(BLOCKS - 1);
    assertThat(there.get(7)).isFalse();
    assertThat(requireNonNull(tier.stat().block(PATIENCE)).corrupt()).isEqualTo(1);
    tier.close().block(PATIENCE);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void sound_isReadOnceAPass_belowTheRate_andStays(EngineKind engine) {
    open(engine);
    put();
    store.scrub(new ScrubOptions(1_000, Duration.ofHours(1)));
    long record = ((StoredRecord) storedBlocks.getFirst()).at().length();
    time.advanceTimeBy(Duration.ofMinutes(30));
    assertThat(store.scrubbed()).isEqualTo(new ScrubStat(1, BLOCKS * record, 0, 0, null));
    storedBlocks.getFirst().close();
    time.advanceTimeBy(Duration.ofMinutes(31));
    assertThat(store.scrubbed().bytes()).isEqualTo((2 * BLOCKS - 1) * record);
    storedBlocks.subList(1, BLOCKS).forEach(this::read);
    assertThatIllegalStateException().isThrownBy(() -> store.scrub(ScrubOptions.defaults()));
    close();
    assertThat(JournalCheck.run(temporary, CheckProgress.none()).clean()).isTrue();
  }
}
