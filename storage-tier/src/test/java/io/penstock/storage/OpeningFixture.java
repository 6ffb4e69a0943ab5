package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/// A journal of one segment without a checkpoint, which a test damages and opens: what waits for the disk runs at once.
@Timeout(120)
abstract class OpeningFixture {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final int HEAD = RecordFormat.headBytes(JournalSample.SPACE.layout());
  static final int BLOCKS = 20;
  static final List<BlockKey> KEYS = Blocks.keys(JournalSample.SPACE, 0, BLOCKS);

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 4));
  EngineKind kind = EngineKind.PLAIN;
  QuarantineBound bound = QuarantineBound.defaults();
  JournalStore store;
  List<Location> records = List.of();

  private JournalOptions options() {
    return JournalOptions.defaults(temporary).withEngine(kind).withSegmentBytes(1 << 20).withQuarantine(bound);
  }

  final SegmentEngine engine() {
    return kind.open(temporary, options().segments());
  }

  final void open() {
    open(engine(), Runnable::run);
  }

  final void open(SegmentEngine engine, Executor reading) {
    store = JournalStore.open(JournalSample.SPACE, options(), engine, Runnable::run, reading);
  }

  @AfterEach
  void close() {
    if (store != null) {
      store.close().block(PATIENCE);
    }
  }

  /// A journal of one segment that has no checkpoint.
  final void written(EngineKind engine) throws IOException {
    kind = engine;
    open();
    put();
    close();
    JournalSample.deleteCheckpoints(temporary);
  }

  final void put() {
    put(KEYS);
  }

  final void put(List<BlockKey> keys) {
    List<Block> blocks = keys.stream().map(key -> Blocks.block(arena, key)).toList();
    records = requireNonNull(store.put(blocks).block(PATIENCE)).stream().map(stored -> ((StoredRecord) stored).at())
        .toList();
    blocks.forEach(Block::close);
  }

  /// Reads all of a block, and compares it.
  final void read(StoredBlock stored) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      store.read(List.of(stored), List.of(draft), GranuleRange.all(JournalSample.SPACE.layout())).block(PATIENCE);
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }
  }

  final FileChannel segment() throws IOException {
    try (JournalFiles files = JournalFiles.reading(temporary)) {
      Path file = files.segments().stream().filter(each -> each.number() == records.getFirst().segment()).findFirst()
          .orElseThrow().path();
      return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }
  }

  final void flip(int record, int at) throws IOException {
    try (FileChannel file = segment()) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, records.get(record).offset() + at);
      file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), records.get(record).offset() + at);
    }
  }

  final byte[] bytes(int record) throws IOException {
    try (FileChannel file = segment()) {
      ByteBuffer bytes = ByteBuffer.allocate(records.get(record).length());
      file.read(bytes, records.get(record).offset());
      return bytes.array();
    }
  }

  final void write(int record, int at, byte[] bytes) throws IOException {
    try (FileChannel file = segment()) {
      file.write(ByteBuffer.wrap(bytes), records.get(record).offset() + at);
    }
  }

  final Path copy(int record) {
    return temporary.resolve(
        "quarantine/segment-%010d-%012d.bin".formatted(records.get(record).segment(), records.get(record).offset()));
  }

  final List<String> index() throws IOException {
    return Files.readAllLines(temporary.resolve("quarantine/index.jsonl"));
  }

  final void assertNothingAside() {
    assertThat(temporary.resolve("quarantine")).doesNotExist();
    assertThat(store.recovery().damaged()).isZero();
    assertThat(store.diskStat().damaged()).isZero();
    assertThat(store.diskStat().problems()).isEmpty();
  }

  static List<BlockKey> without(int... records) {
    List<Integer> gone = Arrays.stream(records).boxed().toList();
    return KEYS.stream().filter(key -> !gone.contains(KEYS.indexOf(key))).toList();
  }
}
