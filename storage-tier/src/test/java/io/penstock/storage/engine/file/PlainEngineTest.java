package io.penstock.storage.engine.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.Records;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentEngineContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PlainEngineTest extends SegmentEngineContract {
  @TempDir
  Path temporary;
  private int crashes;

  private Path directory() {
    return temporary.resolve("journal-" + crashes);
  }

  @Override
  public SegmentEngine open(EngineOptions options, FreeSpace space) {
    return PlainEngine.open(directory(), options, space);
  }

  @Override
  public void crash() {
    Path before = directory();
    crashes++;
    Directories.copy(before, directory());
  }

  @Override
  public void tear(Location newest, int bytes) {
    try (FileChannel file = FileChannel.open(Directories.last(directory(), ".log"), StandardOpenOption.WRITE)) {
      file.truncate(newest.offset() + newest.length() - bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void opened_onAnotherEnginesDirectory_isRefused() {
    open(SMALL, FreeSpace.endless()).close();
    assertThatThrownBy(() -> ChronicleEngine.open(directory(), SMALL)).isInstanceOf(JournalFormatException.class)
        .hasMessage("journal " + directory() + " must be `penstock journal, format 2, engine chronicle`"
            + " (was `penstock journal, format 2, engine plain`)");
  }

  @Test
  void opened_whereItCannotWriteItsLock_letsGoOfIt() throws IOException {
    Path full = Path.of("/dev/full"); // as a disk that is
    assumeTrue(Files.isWritable(full), "no /dev/full here");
    Path lock = Files.createSymbolicLink(Files.createDirectories(directory()).resolve(EngineDirectory.LOCK), full);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> open(SMALL, FreeSpace.endless())).isInstanceOf(StorageFailedException.class)
          .hasMessageContaining("No space left");
    }
    Files.delete(lock);
  }

  @Test
  void deletedFiles_areWrittenAnew_andGoWhenTheEngineCloses() throws IOException {
    SegmentEngine engine = open(SMALL, FreeSpace.endless());
    for (int i = 0; i < 6; i++) {
      fill(engine);
      engine.roll();
    }
    append(engine, 0, 1);
    engine.roll();
    engine.delete(engine.segments().getLast());
    assertThat(spares()).isEmpty(); // little of its space is reserved
    engine.segments().subList(0, 4).forEach(engine::delete);
    assertThat(spares()).hasSize(2); // and no more
    fill(engine);
    assertThat(spares()).hasSize(1);
    engine.roll();
    fill(engine);
    assertThat(spares()).isEmpty();
    engine.delete(engine.segments().getFirst());
    assertThat(spares()).hasSize(1);
    engine.close();
    assertThat(spares()).isEmpty();
    Files.createFile(directory().resolve("spare-7")); // of a run that was ended
    open(SMALL, FreeSpace.endless()).close();
    assertThat(spares()).isEmpty();
  }

  private static void fill(SegmentEngine engine) {
    try (Arena arena = Arena.ofConfined()) {
      for (int i = 0; i < 7; i++) {
        engine.append(Records.ofBytes(i, engine.maxRecordBytes(), arena));
      }
    }
  }

  private List<Path> spares() throws IOException {
    try (Stream<Path> files = Files.list(directory())) {
      return files.filter(file -> file.getFileName().toString().startsWith("spare-")).toList();
    }
  }
}
