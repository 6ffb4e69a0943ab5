package io.penstock.node.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OtherJournalsTest {
  private static final String RUN = "run-0000000001";

  @TempDir
  Path folder;

  private static void file(Path path, int bytes) throws IOException {
    Files.createDirectories(path.getParent());
    Files.write(path, new byte[bytes]);
  }

  @Test
  void segmentsInTheFoldersOfRuns_count_andThoseOfOtherJournalsDoNot() throws IOException {
    file(folder.resolve("format"), 40);
    file(folder.resolve(RUN).resolve("1.cq4"), 3 << 20);
    file(folder.resolve("run-0000000002").resolve("2.cq4"), 1 << 20);
    file(folder.resolve("mine").resolve("format"), 40);
    file(folder.resolve("mine").resolve(RUN).resolve("1.cq4"), 500);
    file(folder.resolve("b").resolve("format"), 40);
    file(folder.resolve("b").resolve(RUN).resolve("1.cq4"), 7_000);

    OtherJournals others = OtherJournals.beside(Set.of(folder.resolve("mine")), folder);

    assertThat(others.bytes()).isEqualTo(Map.of(folder, 40L + (4 << 20), folder.resolve("b"), 7_040L));
    assertThat(others.advice().orElseThrow()).contains(folder + ", 4.00 MiB; " + folder.resolve("b") + ", 6.88 KiB",
        "name a space as such a folder", "serve without spaces", ", or delete what no other node uses");
  }

  @Test
  void whatCannotBeRead_leavesTheRestOfTheNumber() throws IOException {
    file(folder.resolve("b").resolve("format"), 40);
    Path closed = folder.resolve("b").resolve(RUN);
    file(closed.resolve("1.cq4"), 7_000);
    file(folder.resolve("b").resolve("run-0000000002").resolve("2.cq4"), 500);
    Path hidden = Files.createDirectory(folder.resolve("c"));
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
    Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("---------"));
    try {
      assumeFalse(Files.isReadable(closed), "root reads everything");
      assertThat(OtherJournals.beside(Set.of(), folder).bytes()).isEqualTo(Map.of(folder.resolve("b"), 540L));
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
      Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void aQuestionThatFails_hasNoAnswer() {
    assertThat(DiskAnswer.within(Duration.ofMinutes(1), "the room", () -> {
      throw new IOException("gone");
    })).isEmpty();
    assertThat(DiskAnswer.within(Duration.ofMinutes(1), "the room", () -> 5)).contains(5);
  }
}
