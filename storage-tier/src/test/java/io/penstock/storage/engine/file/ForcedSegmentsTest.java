package io.penstock.storage.engine.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.EngineOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ForcedSegmentsTest {
  private static final int OLD = 1;
  private static final int NEW = 2;

  @TempDir
  Path directory;
  private final SegmentTable table = new SegmentTable("plain");

  @BeforeEach
  void twoSegments() throws IOException {
    table.add(SegmentFile.create(OLD, file(OLD)));
    table.add(SegmentFile.create(NEW, file(NEW)));
  }

  private Path file(int number) {
    return directory.resolve("segment-" + number);
  }

  private ForcedSegments segments() {
    return new ForcedSegments(directory, table, new CachedFiles(EngineOptions.UNLIMITED));
  }

  @Test
  void segmentDeletedByItsJournalDuringASync_isNotMissed() {
    ForcedSegments forced = segments();
    List<ForcedSegments.Written> held = forced.unforced();
    assertThat(held).hasSize(2);

    table.delete(OLD);

    assertThatCode(() -> forced.force(held)).doesNotThrowAnyException();
    assertThat(table.numbers()).containsExactly(NEW);
    table.close();
  }

  @Test
  void segmentDeletedByAnother_failsTheSync() throws IOException {
    ForcedSegments forced = segments();
    List<ForcedSegments.Written> held = forced.unforced();

    Files.delete(file(OLD));

    assertThatThrownBy(() -> forced.force(held)).isInstanceOf(IOException.class)
        .hasMessageContaining("must be in its folder (was deleted");
    table.close();
  }
}
