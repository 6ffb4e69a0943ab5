package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.engine.Location;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A segment is shorter than its checkpoint says: an opening tells which blocks are gone, as nothing else can.
final class MissingRecordsTest extends OpeningFixture {
  private void begin(EngineKind engine) {
    kind = engine;
    open();
    put();
  }

  private void cut(long bytes) throws IOException {
    try (FileChannel file = segment()) {
      file.truncate(bytes);
    }
  }

  private void assertMissing(int count) {
    assertThat(store.recovery().missing()).isEqualTo(count);
    assertThat(store.diskStat().problems()).singleElement().asString()
        .startsWith("opening: " + count + " blocks that checkpoints name must be in their segments");
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void blocksOfASegmentThatWasCut_areNamed(EngineKind engine) throws IOException {
    begin(engine);
    close();
    Location fifth = records.get(5);
    cut(fifth.offset() + fifth.length() / 2);
    try (LoggedLines logged = new LoggedLines(Recovery.class)) {
      open();
      assertThat(logged.lines()).anySatisfy(
          line -> assertThat(line).contains("15 blocks that checkpoints name", KEYS.get(5).toString(), "and 7 more"));
    }
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS.subList(0, 5));
    assertMissing(15);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void blocksOfAnEmptyFile_areNamed_butNoneThatWasGivenUpOrPutAgain(EngineKind engine) throws IOException {
    begin(engine);
    close();
    open();
    List<StoredBlock> found = store.recovered();
    found.subList(0, 3).forEach(StoredBlock::close);
    put(KEYS.subList(10, BLOCKS));
    records = List.of(((StoredRecord) found.get(5)).location());
    close();
    cut(0);
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS.subList(10, BLOCKS));
    assertMissing(7);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void lastBlock_whoseFrameIsBroken_isThere_andNothingIsMissing(EngineKind engine) throws IOException {
    begin(engine);
    close();
    flip(BLOCKS - 1, engine == EngineKind.PLAIN ? -8 : -4); // its length
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS);
    assertThat(store.recovery().missing()).isZero();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void nothingIsMissing_ofAWholeSegment(EngineKind engine) {
    begin(engine);
    close();
    open();
    assertThat(store.recovery().missing()).isZero();
    assertThat(store.diskStat().problems()).isEmpty();
  }
}
