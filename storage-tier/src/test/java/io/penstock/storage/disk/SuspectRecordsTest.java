package io.penstock.storage.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.FaultyEngine;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import java.io.IOException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class SuspectRecordsTest {
  private static final StorageFailedException WHY =
      new StorageFailedException("read", new IOException("Input/output error"));

  private final FaultyEngine disk =
      new FaultyEngine(MemoryEngine.open(new MemoryDisk(), new EngineOptions(1 << 20, 0)));
  private final SuspectRecords suspects = new SuspectRecords();

  private static Location record(int number) {
    return new Location(1 + number % 2, 64L * number, 64);
  }

  private void giveUp(int number) {
    suspects.add(record(number), WHY);
    for (int i = 0; suspects.isAny(); i++) {
      assertThat(i).as("tries").isLessThan(100);
      suspects.retry(disk, true);
    }
    assertThat(suspects.isGivenUp(record(number))).isTrue();
  }

  @Test
  void verdict_isKept_untilItIsNotNeeded() {
    disk.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.READ);
    for (int number = 0; number < 8; number++) {
      giveUp(number);
    }
    assertThat(suspects.isGivenUp(record(0))).as("asked again").isTrue();
    suspects.forget(record(0));
    assertThat(suspects.isGivenUp(record(0))).isFalse();
    suspects.readDone(record(2), false);
    assertThat(suspects.isGivenUp(record(2))).as("a part of it was read").isTrue();
    suspects.readDone(record(2), true);
    assertThat(suspects.isGivenUp(record(2))).isFalse();
    suspects.forget(record(3).segment());
    assertThat(suspects.isGivenUp(record(3))).isFalse();
    assertThat(suspects.isGivenUp(record(4))).isTrue();
  }

  @Test
  void verdicts_areBounded_andTheOldestGivesWay() {
    disk.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.READ);
    for (int number = 0; number <= SuspectRecords.MOST; number++) {
      giveUp(number);
    }
    assertThat(suspects.isGivenUp(record(0))).isFalse();
    assertThat(suspects.isGivenUp(record(1))).isTrue();
  }

  @Test
  void recordsThatFollowThoseGivenUp_areTriedAsOften_ifNothingElseIsRead() {
    disk.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.READ);
    for (int number = 0; number < 2 * SuspectRecords.TRIED; number++) {
      suspects.add(record(number), WHY);
    }
    for (int i = 0; i < SuspectRecords.PATIENCE; i++) {
      assertThat(givenUp()).as("after %d tries", i).isZero();
      suspects.retry(disk, true);
    }
    for (int i = 0; i < SuspectRecords.PATIENCE; i++) {
      assertThat(givenUp()).as("after %d more", i).isEqualTo(SuspectRecords.TRIED);
      assertThat(suspects.trouble()).isNull();
      suspects.retry(disk, true);
    }
    assertThat(givenUp()).isEqualTo(2 * SuspectRecords.TRIED);
  }

  private long givenUp() {
    return IntStream.range(0, 2 * SuspectRecords.TRIED).filter(number -> suspects.isGivenUp(record(number))).count();
  }

  @Test
  void segmentThatIsDeletedMeanwhile_provesNothing() {
    disk.failAt(record(0));
    suspects.add(record(0), WHY);
    suspects.add(record(2), WHY); // of which the engine knows nothing
    for (int i = 0; i < SuspectRecords.PATIENCE; i++) {
      assertThat(suspects.isGivenUp(record(0))).as("after %d tries", i).isFalse();
      suspects.retry(disk, true);
    }
    assertThat(suspects.isGivenUp(record(0))).isTrue();
  }

  @Test
  void recordOfADiskThatDoesNotAnswerWrites_isNotGivenUp_thoughTheDiskGaveAnother() {
    disk.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.READ);
    suspects.add(record(0), WHY);
    suspects.readDone(record(1), true); // from memory, perhaps
    for (int i = 0; i < 2 * SuspectRecords.PATIENCE; i++) {
      suspects.retry(disk, false);
    }
    assertThat(suspects.isGivenUp(record(0))).isFalse();
    suspects.retry(disk, true);
    assertThat(suspects.isGivenUp(record(0))).isTrue();
  }
}
