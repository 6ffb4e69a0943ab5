package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.Damage;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What readers find damaged: they hear so at once, and its bytes are set aside after that, once. What waits for the
/// disk runs when the test says so.
@Timeout(60)
final class ReadDamageTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final GranuleRange ALL = GranuleRange.all(JournalSample.SPACE.layout());
  private static final int HEAD = RecordFormat.headBytes(JournalSample.SPACE.layout());
  private static final int LAST = ALL.count() - 1;

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 4));
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final ArrayDeque<Runnable> reading = new ArrayDeque<>();
  private QuarantineBound bound = QuarantineBound.defaults();
  private SegmentEngine engine;
  private JournalStore store;
  private List<StoredBlock> stored = List.of();
  private List<Location> records = List.of();

  private void open(EngineKind of) {
    JournalOptions options =
        JournalOptions.defaults(temporary).withEngine(of).withSegmentBytes(1 << 20).withDurability(SyncRule.none())
            .withQuarantine(bound);
    engine = of.open(temporary, options.segments());
    store = JournalStore.open(JournalSample.SPACE, options, engine, new SerialExecutor(), reading::add, time);
    List<Block> blocks = Blocks.keys(JournalSample.SPACE, 0, 10).stream().map(key -> Blocks.block(arena, key)).toList();
    stored = requireNonNull(store.put(blocks).block(PATIENCE));
    records = stored.stream().map(block -> ((StoredRecord) block).at()).toList();
    blocks.forEach(Block::close);
  }

  @AfterEach
  void close() {
    if (store != null) {
      store.close().block(PATIENCE);
    }
  }

  private void flip(int record, int at) {
    Damage.flip(temporary, records.get(record), at, 4);
  }

  private byte[] bytes(int record) {
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment bytes = memory.allocate(records.get(record).length());
      engine.read(records.get(record), 0, bytes);
      return bytes.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private void finish() {
    for (Runnable next = reading.poll(); next != null; next = reading.poll()) {
      next.run();
    }
  }

  /// Has one part of a read run, and no more.
  private void assertCorrupt(int record, GranuleRange range) {
    try (BlockDraft draft = Blocks.draft(arena, stored.get(record).key())) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      store.read(List.of(stored.get(record)), List.of(draft), range).subscribe(nothing -> {}, failure::set);
      requireNonNull(reading.pollLast()).run();
      assertThat(failure.get()).isInstanceOf(BlockCorruptException.class);
    }
  }

  private void assertKept(int records) throws IOException {
    Path index = temporary.resolve("quarantine/index.jsonl");
    assertThat(Files.exists(index) ? Files.readAllLines(index) : List.of()).hasSize(records);
  }

  private Path copy(int record) {
    return temporary.resolve(
        "quarantine/segment-%010d-%012d.bin".formatted(records.get(record).segment(), records.get(record).offset()));
  }

  private void assertCounted(long damaged, long unkept) {
    assertThat(store.diskStat().damaged()).isEqualTo(damaged);
    assertThat(store.diskStat().unkept()).isEqualTo(unkept);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damagedRecord_isSetAsideBehindTheReader_andCountedOnce(EngineKind of) throws IOException {
    open(of);
    flip(3, HEAD + 70);
    flip(5, 25);
    flip(7, RecordFormat.recordBytes(JournalSample.SPACE.layout()) - RecordFormat.MARK_BYTES - 9);
    List<byte[]> damaged = List.of(bytes(3), bytes(5), bytes(7));
    assertCorrupt(3, ALL);
    assertCorrupt(3, ALL);
    assertCorrupt(5, GranuleRange.whole(0, 1));
    assertCorrupt(7, new GranuleRange(LAST, 1, 0, 1));
    assertThat(reading).as("one at a time").hasSize(1);
    assertThat(temporary.resolve("quarantine")).as("no call waited for it").doesNotExist();
    assertCounted(3, 0);
    finish();

    assertCounted(3, 0);
    assertThat(store.diskStat().problems()).isEmpty();
    assertKept(3);
    assertThat(copy(3)).hasBinaryContent(damaged.get(0));
    assertThat(copy(5)).hasBinaryContent(damaged.get(1));
    assertThat(copy(7)).hasBinaryContent(damaged.get(2));
    assertCorrupt(3, ALL);
    assertThat(reading).as("known now").isEmpty();
    assertCounted(3, 0);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void blockThatIsGivenUpBefore_andItsSegmentGone_isSetAsideStill(EngineKind of) throws IOException {
    open(of);
    flip(3, HEAD + 70);
    byte[] damaged = bytes(3);
    assertCorrupt(3, ALL);
    engine.roll();
    stored.forEach(StoredBlock::close);
    store.flush().block(PATIENCE);
    assertThat(engine.segments()).doesNotContain(records.getFirst().segment());
    finish();
    assertCounted(1, 0);
    assertKept(1);
    assertThat(copy(3)).hasBinaryContent(damaged);
    assertThatThrownBy(() -> engine.pin(records.getFirst().segment())).as("no pin keeps it now").isNotNull();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void recordThatTheScrubComesTo_isCountedOnce_byTheFirst(EngineKind of) throws IOException {
    open(of);
    flip(3, HEAD + 70);
    flip(4, HEAD + 70);
    assertCorrupt(3, ALL);
    Runnable look = requireNonNull(reading.poll());
    store.scrub(new ScrubOptions(1 << 20, Duration.ofHours(1)));
    time.advanceTimeBy(Duration.ofSeconds(10));
    finish();
    assertThat(store.scrubbed().corrupt()).isEqualTo(1);
    look.run();
    finish();
    assertCounted(2, 0);
    assertKept(2);

    flip(6, HEAD + 70);
    assertCorrupt(6, ALL);
    finish();
    for (int minutes = 0; minutes < 120; minutes++) {
      time.advanceTimeBy(Duration.ofMinutes(1));
      finish();
    }
    assertThat(store.scrubbed().passes()).isGreaterThan(1);
    assertCounted(3, 0);
    assertKept(3);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fullQuarantine_isToldAndCounted(EngineKind of) throws IOException {
    bound = new QuarantineBound(1 << 20, 1);
    open(of);
    flip(3, HEAD + 70);
    flip(4, HEAD + 70);
    assertCorrupt(3, ALL);
    assertCorrupt(4, ALL);
    finish();
    assertCounted(2, 1);
    assertKept(1);
    assertThat(store.diskStat().problems()).singleElement().asString()
        .startsWith("quarantine: could not set damage aside")
        .contains("within 1 records");
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void whatWaitsAtAClose_isGivenUp(EngineKind of) throws IOException {
    open(of);
    flip(3, HEAD + 70);
    assertCorrupt(3, ALL);
    close();
    finish();
    assertKept(0);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void tierOverIt_dropsTheBlockAtOnce_andCountsItOnce(EngineKind of) throws IOException {
    open(of);
    flip(3, HEAD + 70);
    store.close().block(PATIENCE);
    JournalOptions options = JournalOptions.defaults(temporary).withEngine(of).withSegmentBytes(1 << 20);
    store = JournalStore.open(JournalSample.SPACE, options, of.open(temporary, options.segments()), Runnable::run,
        Runnable::run);
    TierStack tier = new TierStack(JournalSample.SPACE, List.of(new StackLevel.Stored(store, 100)),
        StackOptions.defaults("ssd").withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
    List<BlockKey> bad = List.of(Blocks.key(JournalSample.SPACE, 3));
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> tier.get(bad, scope).collectList().block(PATIENCE))
          .isInstanceOf(BlockCorruptException.class);
    }
    assertThat(requireNonNull(tier.contains(bad).block(PATIENCE)).get(0)).isFalse();
    assertThat(requireNonNull(tier.stat().block(PATIENCE)).corrupt()).isEqualTo(1);
    assertCounted(1, 0);
    assertKept(1);
    tier.close().block(PATIENCE);
  }
}
