package io.penstock.storage.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.PlainEngine;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class CachedFilesTest {
  private static final int RECORD = 1 << 20;
  private static final int RECORDS = 24;

  @TempDir
  Path directory;

  @ParameterizedTest
  @CsvSource({"plain,0", "plain,8", "chronicle,0", "chronicle,8"})
  void forcedBytes_leaveThePageCache_butForTheNewest(String kind, int kept) throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/fincore")), "fincore of util-linux must be there");
    EngineOptions options = new EngineOptions(16 << 20, 0).withCacheBytes((long) kept << 20);
    try (SegmentEngine engine = open(kind, options); Arena arena = Arena.ofConfined()) {
      MemorySegment record = arena.allocate(RECORD);
      MemorySegment back = arena.allocate(RECORD);
      for (int i = 0; i < RECORDS; i++) {
        engine.read(engine.append(record.fill((byte) i)), 0, back); // what is read may be mapped
        engine.sync();
        assumeTrue(i > 0 || resident() > 0, "a file system with a page cache");
      }
      long before = resident();
      engine.trim();

      assertThat(before).isGreaterThanOrEqualTo((long) RECORDS * RECORD);
      assertThat(resident()).isBetween(Math.max(0, kept - 2L) << 20, ((long) kept + 4) << 20);
      SegmentEngineContract.scanAll(engine).forEach(at -> engine.read(at, 0, back));
      assertThat(back.get(ValueLayout.JAVA_BYTE, RECORD - 1)).as("still readable").isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "chronicle"})
  void whatIsReadOnce_doesNotFillThePageCache_andWhatWasThereStays(String kind)
      throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/fincore")), "fincore of util-linux must be there");
    EngineOptions options = new EngineOptions(16 << 20, 0);
    try (SegmentEngine engine = open(kind, options); Arena arena = Arena.ofConfined()) {
      MemorySegment record = arena.allocate(RECORD / 4);
      MemorySegment back = arena.allocate(RECORD / 4);
      List<Location> all = new ArrayList<>();
      for (int i = 0; i < 4 * RECORDS; i++) {
        all.add(engine.append(record.fill((byte) i)));
      }
      engine.roll();
      engine.sync();
      assumeTrue(resident() > 0, "a file system with a page cache");
      letGoFrom(4 * RECORD);
      long before = resident();
      for (int i = 0; i < all.size(); i++) {
        engine.readOnce(all.get(i), 0, back);
        assertThat(back.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) i);
      }
      assertThat(resident()).as("of %d before, and %d read", before, all.size() * back.byteSize())
          .isBetween(3L * RECORD, before + RECORD);
    }
  }

  private SegmentEngine open(String kind, EngineOptions options) {
    return kind.equals(PlainEngine.NAME)
        ? PlainEngine.open(directory, options)
        : ChronicleEngine.open(directory, options);
  }

  /// Of each segment; the system may keep a little more than it is told.
  private void letGoFrom(long offset) throws IOException {
    try (var all = Files.walk(directory)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        NativePages.letGo(file, offset, Math.max(offset, Files.size(file)));
      }
    }
  }

  /// Bytes of all segments in the page cache, as the system says.
  private long resident() throws IOException, InterruptedException {
    long bytes = 0;
    List<Path> files;
    try (var all = Files.walk(directory)) {
      files = all.filter(file -> Files.isRegularFile(file) && file.toFile().length() >= RECORD).toList();
    }
    for (Path file : files) {
      Process fincore =
          new ProcessBuilder("/usr/bin/fincore", "--bytes", "--noheadings", "--output", "RES", file.toString()).start();
      String text = new String(fincore.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(fincore.waitFor()).isZero();
      bytes += Long.parseLong(text.strip());
    }
    return bytes;
  }
}
