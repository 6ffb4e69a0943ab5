package io.penstock.storage.engine.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.Records;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentEngineContract;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ChronicleEngineTest extends SegmentEngineContract {
  @TempDir
  Path temporary;
  private int crashes;

  private Path directory() {
    return temporary.resolve("journal-" + crashes);
  }

  @Override
  public SegmentEngine open(EngineOptions options, FreeSpace space) {
    return ChronicleEngine.open(directory(), options, space);
  }

  @Override
  public void crash() {
    Path before = directory();
    crashes++;
    Directories.copy(before, directory());
  }

  @Override
  public void tear(Location newest, int bytes) {
    try (FileChannel file = FileChannel.open(Directories.last(directory(), ".cq4"), StandardOpenOption.WRITE)) {
      file.truncate(newest.offset() + newest.length() - bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void closed_givesBackWhatWasReserved() throws IOException {
    SegmentEngine engine = open(SMALL, FreeSpace.endless());
    Location at = append(engine, 0, 3).getLast();
    assertThat(Files.size(Directories.last(directory(), ".cq4"))).isGreaterThanOrEqualTo(SMALL.segmentBytes());
    engine.close();
    assertThat(Files.size(Directories.last(directory(), ".cq4"))).isEqualTo(at.offset() + at.length());
  }

  @Test
  void recovered_givesBackWhatACrashLeftReserved() throws IOException {
    Location at = append(open(SMALL, FreeSpace.endless()), 0, 3).getLast();
    crash();
    try (SegmentEngine again = open(SMALL, FreeSpace.endless())) {
      assertThat(scanAll(again)).hasSize(3);
      again.cut(at.segment(), at.offset() + at.length());
      assertThat(Files.size(Directories.last(directory(), ".cq4"))).isEqualTo(at.offset() + at.length());
      Records.assertRecord(again, at, 2);
    }
  }

  @Test
  void fileNames_standForTheirSegments() {
    for (int segment : new int[] {1, 23, 24, 500_000, 60_000_000}) {
      assertThat(ChronicleFormat.segment(Path.of(ChronicleFormat.fileName(segment)))).isEqualTo(segment);
    }
    assertThat(ChronicleFormat.fileName(1)).isEqualTo("19700101-01.cq4");
    assertThat(ChronicleFormat.segment(Path.of("metadata.cq4t"))).isZero();
    assertThat(ChronicleFormat.segment(Path.of("x.cq4"))).isZero();
  }

  @Test
  void deletedFiles_areWrittenAnew_andGoWhenTheEngineCloses() throws IOException {
    SegmentEngine engine = open(SMALL, FreeSpace.endless());
    for (int i = 0; i < 6; i++) {
      append(engine, i, i + 1);
      engine.roll();
    }
    List<Integer> first = engine.segments().subList(0, 4);
    first.forEach(segment -> awaitUnmapped(engine, segment));
    first.forEach(engine::delete);
    assertThat(spares()).hasSize(2); // and no more
    append(engine, 6, 7);
    assertThat(spares()).hasSize(1);
    engine.roll();
    append(engine, 7, 8);
    assertThat(spares()).isEmpty();
    awaitUnmapped(engine, engine.segments().getFirst());
    engine.delete(engine.segments().getFirst());
    assertThat(spares()).hasSize(1);
    engine.close();
    assertThat(spares()).isEmpty();
    Files.createFile(directory().resolve("spare-7")); // of a run that was ended
    open(SMALL, FreeSpace.endless()).close();
    assertThat(spares()).isEmpty();
  }

  /// Chronicle unmaps files on a thread of its own.
  private static void awaitUnmapped(SegmentEngine engine, int segment) {
    Eventually.holds("the file of segment " + segment + " is not mapped", () -> !isMapped(engine, segment));
  }

  private static boolean isMapped(SegmentEngine engine, int segment) {
    ChronicleEngine own = (ChronicleEngine) engine;
    synchronized (own) {
      return own.isMapped(segment);
    }
  }

  /// Chronicle would write the end of the old cycle into the new segment.
  @Test
  void deletedFile_thatIsMapped_isNotWrittenAnew_howeverLateChronicleTellsOfIt() throws Exception {
    CountDownLatch goesOn = new CountDownLatch(1);
    CountDownLatch stands = new CountDownLatch(1);
    BackgroundResourceReleaser.run(() -> {
      stands.countDown();
      try {
        goesOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    try {
      stands.await();
      SegmentEngine engine = open(SMALL, FreeSpace.endless());
      append(engine, 0, 1);
      engine.roll();
      engine.delete(engine.segments().getFirst());
      assertThat(spares()).isEmpty();
    } finally {
      goesOn.countDown();
    }
  }

  @Test
  void lastSegmentOfARun_whoseFolderStays_isDeletedAllTheSame() throws IOException {
    append(open(SMALL, FreeSpace.endless()), 0, 3);
    crash();
    SegmentEngine engine = open(SMALL, FreeSpace.endless());
    Files.createDirectories(directory().resolve("run-0000000001").resolve("in the way").resolve("of it"));
    engine.delete(1);
    assertThat(engine.segments()).isEmpty();
  }

  private List<Path> spares() throws IOException {
    try (Stream<Path> files = Files.list(directory())) {
      return files.filter(file -> file.getFileName().toString().startsWith("spare-")).toList();
    }
  }
}
