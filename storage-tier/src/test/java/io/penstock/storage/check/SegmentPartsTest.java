package io.penstock.storage.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.storage.EngineKind;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A segment that two threads check is said to be what one of them says, whatever is wrong with it.
@Timeout(600)
final class SegmentPartsTest {
  private static final int BLOCKS = 20;
  /// Of a segment that is checked in parts: to look for its middle, and for each part.
  private static final int OPENINGS = 3;

  @TempDir
  Path journal;

  /// Files, by the last check in parts.
  private final AtomicInteger opened = new AtomicInteger();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", WrittenJournal.SPACE.layout(), BLOCKS, BLOCKS));

  @ParameterizedTest
  @CsvSource({"PLAIN, 150", "CHRONICLE, 50"})
  void anyDamage_isFoundInPartsAsItIsInOne(EngineKind engine, int times) throws IOException {
    compare(engine, times);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"PLAIN, 10000", "CHRONICLE, 10000"})
  void anyDamage_atLength_isFoundInPartsAsItIsInOne(EngineKind engine, int times) throws IOException {
    compare(engine, times);
  }

  private void compare(EngineKind engine, int times) throws IOException {
    WrittenJournal.write(journal, engine, arena, 2, BLOCKS);
    try (JournalFiles files = JournalFiles.writing(journal)) {
      Path file = files.segments().getFirst().path();
      byte[] whole = Files.readAllBytes(file);
      CheckReport clean = inParts(files);
      assertThat(clean).matches(CheckReport::clean).matches(report -> report.live() == 2 * BLOCKS);
      assertThat(opened).as("two segments, in two parts each").hasValue(2 * OPENINGS);
      int divided = 0;
      for (long seed = 0; seed < times; seed++) {
        Files.write(file, damaged(whole, new Random(seed)));
        assertThat(inParts(files)).as("seed %d on %s", seed, engine).isEqualTo(inOne(files));
        divided += opened.get() < 2 * OPENINGS ? 0 : 1;
      }
      assertThat(divided).as("damaged segments that were checked in parts").isGreaterThan(times / 2);
    }
  }

  private CheckReport inParts(JournalFiles files) {
    opened.set(0);
    return JournalCheck.run(files, CheckProgress.none(), file -> {
      opened.incrementAndGet();
      return SegmentWindow.open(file);
    }, true);
  }

  private static CheckReport inOne(JournalFiles files) {
    return JournalCheck.run(files, CheckProgress.none(), SegmentWindow::open, false);
  }

  /// Bits flipped, a range lost, a record of another place, or an end cut off; the middle of what was written is hit
  /// most.
  private static byte[] damaged(byte[] whole, Random random) {
    int end = Math.max(1, whole.length - trailingZeros(whole));
    byte[] bytes = whole.clone();
    for (int i = random.nextInt(3); i >= 0; i--) {
      int at = random.nextBoolean() ? random.nextInt(end) : end / 4 + random.nextInt(end / 2 + 1);
      int length = Math.min(end - at, 1 + random.nextInt(6_000));
      switch (random.nextInt(5)) {
        case 0, 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> Arrays.fill(bytes, at, at + length, (byte) 0);
        case 3 -> System.arraycopy(whole, random.nextInt(end - length + 1), bytes, at, length);
        default -> bytes = Arrays.copyOf(bytes, Math.max(at, 1));
      }
      end = Math.max(1, Math.min(end, bytes.length));
    }
    return bytes;
  }

  private static int trailingZeros(byte[] bytes) {
    int zeros = 0;
    while (zeros < bytes.length && bytes[bytes.length - 1 - zeros] == 0) {
      zeros++;
    }
    return zeros;
  }
}
