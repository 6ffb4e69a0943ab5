package io.penstock.storage.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.SlabArena;
import io.penstock.storage.EngineKind;
import io.penstock.storage.check.SegmentWalk.Part;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.testkit.LeakLedger;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Parts of a segment that fail.
@Timeout(60)
final class SegmentWalksTest {
  private static final int BLOCKS = 20;

  @TempDir
  Path journal;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", WrittenJournal.SPACE.layout(), BLOCKS, BLOCKS));

  /// Walks the first segment.
  private SegmentTally tally(Predicate<Part> fails) {
    WrittenJournal.write(journal, EngineKind.PLAIN, arena, 1, BLOCKS);
    try (JournalFiles files = JournalFiles.reading(journal);
        SegmentWalks walks = new SegmentWalks(files.segments(), (segment, part, before) -> {
          if (fails.test(part)) {
            throw new IllegalStateException("cannot walk " + part);
          }
          return walked(files, segment, part, before);
        }, segment -> middle(files, segment))) {
      return walks.next(0);
    }
  }

  private static SegmentTally walked(JournalFiles files, JournalFiles.Stored segment, Part part, long before) {
    try (SegmentWindow file = SegmentWindow.open(segment.path())) {
      SegmentTally tally = new SegmentTally(segment, file.size(), files.frames().bytes());
      SegmentWalk walk = new SegmentWalk(files.frames(), segment.number(), file, part, before, tally);
      walk.run();
      tally.walked(walk);
      return tally;
    }
  }

  private static long middle(JournalFiles files, JournalFiles.Stored segment) {
    try (SegmentWindow file = SegmentWindow.open(segment.path())) {
      return new SegmentWalk(files.frames(), segment.number(), file, Part.ALL, 0,
          new SegmentTally(segment, file.size(), 0)).middle();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void partThatFails_whereAWalkInOneDoesNot_failsNothing(boolean second) {
    AtomicInteger failed = new AtomicInteger();
    SegmentTally tally =
        tally(part -> !part.equals(Part.ALL) && part.from() > 0 == second && failed.incrementAndGet() > 0);
    assertThat(failed).as("parts that failed").hasPositiveValue();
    assertThat(tally.report(journal).live()).isEqualTo(BLOCKS);
    assertThat(tally.damage()).isEmpty();
  }

  @Test
  void whatFailsInOne_fails() {
    assertThatThrownBy(() -> tally(part -> true)).hasMessage("cannot walk " + Part.ALL);
  }
}
