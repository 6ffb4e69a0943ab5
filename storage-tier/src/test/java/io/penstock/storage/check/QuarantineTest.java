package io.penstock.storage.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is kept of damage, and how much.
@Timeout(60)
final class QuarantineTest {
  private static final int BYTES = 100;

  @TempDir
  Path journal;

  private static MemorySegment record(int value) {
    return Arena.ofAuto().allocate(BYTES).fill((byte) value);
  }

  private static Damage at(long offset) {
    return Damage.unknown(1, offset, BYTES, DamageKind.PAYLOAD, "crc must be right (was not)");
  }

  private Quarantine of(long bytes, int records) {
    return new Quarantine(journal, new QuarantineBound(bytes, records));
  }

  private Path copy(int offset) {
    return journal.resolve("quarantine/segment-0000000001-%012d.bin".formatted(offset));
  }

  @Test
  void record_isKeptWithALine_once() throws IOException {
    Quarantine quarantine = of(1_000, 10);
    assertThat(quarantine.keep(record(7), at(64))).isEqualTo(journal.relativize(copy(64)).toString());
    assertThat(quarantine.keep(record(7), at(64))).isEqualTo(journal.relativize(copy(64)).toString());
    assertThat(Files.readAllBytes(copy(64))).hasSize(BYTES).containsOnly(7);
    assertThat(Files.readAllLines(journal.resolve("quarantine/index.jsonl"))).hasSize(1);
    assertThat(quarantine.keep(record(8), at(64))).as("other bytes of that place").endsWith("-2.bin");
  }

  @Test
  void bound_ofRecords_holdsWithWhatIsThereFromBefore() {
    of(1_000, 10).keep(record(1), at(0));
    Quarantine quarantine = of(1_000, 2);
    quarantine.keep(record(2), at(200));
    assertThatThrownBy(() -> quarantine.keep(record(3), at(400))).isInstanceOf(StorageFailedException.class)
        .hasMessageContaining(
            "quarantine must stay within 2 records and 1000 bytes (had 2 records and 200 bytes, and 100 bytes came)");
    assertThat(copy(400)).doesNotExist();
    assertThat(quarantine.keep(record(1), at(0))).as("it is there").endsWith(copy(0).getFileName().toString());
  }

  @Test
  void bound_ofBytes_holds_andWhatIsNotNewTakesNone() {
    Quarantine quarantine = of(2 * BYTES, 10);
    for (int i = 0; i < 5; i++) {
      quarantine.keep(record(1), at(0));
    }
    quarantine.keep(record(2), at(200));
    assertThatThrownBy(() -> quarantine.keep(record(3), at(400))).hasMessageContaining("had 2 records and 200 bytes");
    assertThatThrownBy(() -> of(0, 0).keep(record(3), at(400))).isInstanceOf(StorageFailedException.class);
    assertThatIllegalArgumentException().isThrownBy(() -> new QuarantineBound(-1, 1))
        .withMessage("bytes must be >= 0 (was -1)");
  }

  @Test
  void draftsOfAnEarlierRun_go_andTakeNoRoom() throws IOException {
    of(2 * BYTES, 2).keep(record(1), at(0));
    Path other = Files.write(journal.resolve("quarantine/segment-0000000001-000000000600.bin.new"), new byte[BYTES]);
    Files.write(journal.resolve("quarantine/segment-0000000001-000000000200.bin.new"), new byte[BYTES / 2]);
    Quarantine quarantine = of(2 * BYTES, 2);
    quarantine.keep(record(2), at(200));
    assertThat(copy(200)).hasSize(BYTES);
    assertThat(other).doesNotExist();
    assertThatThrownBy(() -> quarantine.keep(record(3), at(400))).hasMessageContaining("had 2 records and 200 bytes");
  }

  @Test
  void lineThatCouldNotBeWritten_isWrittenTheNextTime() throws IOException {
    Quarantine quarantine = of(1_000, 10);
    quarantine.keep(record(1), at(0));
    Path index = journal.resolve("quarantine/index.jsonl");
    Path aside = Files.move(index, journal.resolve("aside"));
    Files.createDirectory(index); // which no line goes into
    assertThatThrownBy(() -> quarantine.keep(record(2), at(200))).isInstanceOf(StorageFailedException.class);
    assertThat(copy(200)).as("the copy stays").hasSize(BYTES);
    Files.delete(index);
    Files.move(aside, index);
    assertThat(quarantine.keep(record(2), at(200))).isEqualTo(journal.relativize(copy(200)).toString());
    assertThat(Files.readAllLines(index)).hasSize(2);
    assertThatThrownBy(() -> of(1_000, 2).keep(record(3), at(400))).hasMessageContaining("had 2 records and 200 bytes");
  }

  @Test
  void lineThatACrashCutOff_staysALineOfItsOwn() throws IOException {
    of(1_000, 10).keep(record(1), at(0));
    Path index = journal.resolve("quarantine/index.jsonl");
    String line = Files.readString(index);
    Files.writeString(index, line.substring(0, 30));
    Quarantine quarantine = of(1_000, 10);
    quarantine.keep(record(1), at(0));
    quarantine.keep(record(2), at(200));
    assertThat(Files.readAllLines(index)).hasSize(3).startsWith(line.substring(0, 30), line.strip());
  }
}
