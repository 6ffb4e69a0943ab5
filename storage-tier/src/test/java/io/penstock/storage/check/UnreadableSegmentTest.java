package io.penstock.storage.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.storage.EngineKind;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A medium that does not give a part of a segment: a check says so, and goes on behind it.
@Timeout(60)
final class UnreadableSegmentTest {
  private static final int RUNS = 3;
  private static final int BLOCKS = 10; // of each run, and so of each segment
  private static final int BAD_SEGMENT = 2;
  private static final int BAD_RECORD = 4;

  @TempDir
  Path journal;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", WrittenJournal.SPACE.layout(), BLOCKS, BLOCKS));

  private void write(EngineKind engine) {
    WrittenJournal.write(journal, engine, arena, RUNS, BLOCKS);
  }

  /// Where a record begins.
  private static long record(Path file, int number) throws IOException {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    int at = -1;
    for (int i = 0; i <= number; i++) {
      at = text.indexOf("PNSTKREC", at + 1);
    }
    return at;
  }

  private static Function<Path, SegmentWindow> failing(Path file, long bad) {
    return path -> {
      try {
        FileChannel channel = FileChannel.open(path);
        return SegmentWindow.of(path, path.equals(file) ? new FailingFile(channel, bad) : channel);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void anUnreadablePart_isReportedWithItsCause_andTheRestIsChecked(EngineKind engine) throws IOException {
    write(engine);
    try (JournalFiles files = JournalFiles.reading(journal)) {
      Path file = files.segments().get(BAD_SEGMENT - 1).path();
      long record = record(file, BAD_RECORD);
      long bad = record + 200; // in its payload

      CheckReport report = JournalCheck.run(files, CheckProgress.none(), failing(file, bad));

      Damage damage = report.damage().getFirst();
      assertThat(report.damage()).hasSize(1);
      assertThat(damage.kind()).isEqualTo(DamageKind.UNREADABLE);
      assertThat(damage.segment()).isEqualTo(BAD_SEGMENT);
      assertThat(damage.offset()).isEqualTo(bad);
      assertThat(damage.reason()).contains("from " + bad + " on", FailingFile.ERROR);
      assertThat(report.clean()).isFalse();
      assertThat(report.segments()).extracting(SegmentReport::live).satisfiesExactly(
          ten -> assertThat(ten).isEqualTo(10),
          some -> assertThat(some).isBetween(4L, 9L), ten -> assertThat(ten).isEqualTo(10));
    }
    assertThat(JournalCheck.run(journal, CheckProgress.none()).clean()).as("once the medium gives it again").isTrue();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void aSegmentWhoseFirstByteCannotBeRead_isReported_andItsRecordsAreChecked(EngineKind engine) throws IOException {
    write(engine);
    try (JournalFiles files = JournalFiles.reading(journal)) {
      Path file = files.segments().get(BAD_SEGMENT - 1).path();
      CheckReport report = JournalCheck.run(files, CheckProgress.none(), failing(file, 0));

      assertThat(report.damage()).isNotEmpty()
          .allMatch(damage -> damage.offset() == 0 && damage.kind() == DamageKind.UNREADABLE);
      assertThat(report.segments()).extracting(SegmentReport::live).satisfiesExactly(
          ten -> assertThat(ten).isEqualTo(10),
          some -> assertThat(some).isPositive(), ten -> assertThat(ten).isEqualTo(10));
    }
  }
}
