package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.engine.Location;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/// A small journal to be damaged, and what may still be read of it: nothing but what was written.
final class JournalSample {
  static final CacheSpace SPACE = Blocks.smallSpace();
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());

  private final EngineKind engine;
  private final SlabArena arena;
  private final Set<BlockKey> written = new HashSet<>();
  private int blocksRead;
  private int refused;
  private int damaged;

  /// @param arena of 64 slots or more
  JournalSample(EngineKind engine, SlabArena arena) {
    this.engine = engine;
    this.arena = arena;
  }

  JournalOptions options(Path directory) {
    return JournalOptions.defaults(directory).withEngine(engine).withSegmentBytes(1 << 20).withIoThreads(1);
  }

  /// How the names of segment files end.
  String suffix() {
    return engine == EngineKind.PLAIN ? ".log" : ".cq4";
  }

  /// A run that writes the blocks of `from … to - 1`, and removes the one in the midst.
  void write(Path directory, long from, long to) {
    JournalStore store = JournalStore.open(SPACE, options(directory));
    List<BlockKey> keys = Blocks.keys(SPACE, from, to);
    List<Block> blocks = keys.stream().map(key -> Blocks.block(arena, key)).toList();
    List<StoredBlock> storedBlocks = Objects.requireNonNull(store.put(blocks).block());
    blocks.forEach(Block::close);
    storedBlocks.get(storedBlocks.size() / 2).close();
    store.close().block();
    written.addAll(keys);
  }

  /// A run that writes the blocks of `from … to - 1`, 60 at a time, into as many segments as they need.
  void writeMany(Path directory, long from, long to) {
    JournalStore store = JournalStore.open(SPACE, options(directory));
    for (long at = from; at < to; at += 60) {
      List<Block> blocks =
          Blocks.keys(SPACE, at, Math.min(to, at + 60)).stream().map(key -> Blocks.block(arena, key)).toList();
      store.put(blocks).block();
      blocks.forEach(Block::close);
    }
    store.close().block();
  }

  /// Where the blocks that count lie.
  List<Location> live(Path directory) {
    JournalStore store = open(directory);
    try {
      return store.recovered().stream().map(stored -> ((StoredRecord) stored).at()).toList();
    } finally {
      store.close().block();
    }
  }

  private JournalStore open(Path directory) {
    JournalOptions options = options(directory);
    return JournalStore.open(SPACE, options, engine.open(directory, options.segments()), Runnable::run, Runnable::run);
  }

  /// Opens the journal and reads all of it; answers what could be read.
  ///
  /// @throws AssertionError if a byte is wrong, or a block there that was never written
  List<BlockKey> read(Path directory) {
    List<BlockKey> good = new ArrayList<>();
    JournalStore store;
    try {
      store = open(directory);
    } catch (KvException e) {
      refused++;
      return good;
    }
    damaged = store.recovery().damaged();
    assertThat(store.diskStat().damaged()).isEqualTo(damaged);
    try {
      for (StoredBlock stored : store.recovered()) {
        assertThat(written).contains(stored.key());
        if (read(store, stored)) {
          good.add(stored.key());
        }
      }
      return good;
    } finally {
      store.close().block();
    }
  }

  private boolean read(JournalStore store, StoredBlock stored) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      store.read(List.of(stored), List.of(draft), ALL).block();
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
        blocksRead++;
        return true;
      }
    } catch (KvException e) {
      refused++;
      return false;
    }
  }

  int blocksRead() {
    return blocksRead;
  }

  /// Records that the newest opening found damaged, and set aside.
  int damaged() {
    return damaged;
  }

  /// Journals and blocks that were refused.
  int refused() {
    return refused;
  }

  /// As if the writer had never come to the end of a segment.
  static void deleteCheckpoints(Path journal) throws IOException {
    try (Stream<Path> files = Files.list(journal)) {
      for (Path file : files.filter(each -> each.getFileName().toString().startsWith("checkpoint-")).toList()) {
        Files.delete(file);
      }
    }
  }

  /// Where record number `record` of a segment begins, from 0.
  static int record(byte[] bytes, int record) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int at = -1;
    for (int i = 0; i <= record; i++) {
      at = text.indexOf("PNSTKREC", at + 1);
    }
    return at;
  }

  static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
