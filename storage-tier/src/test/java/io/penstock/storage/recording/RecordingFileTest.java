package io.penstock.storage.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.recording.RecordingWriter.Options;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecordingFileTest {
  private static final Options SMALL = Options.defaults().withSegmentBytes(1 << 20).withMostBytes(3 << 20);

  @TempDir
  private Path folder;

  private static RecordedEvent event(Random random, int number) {
    int numbers = random.nextInt(4);
    long[] values = random.longs(numbers).toArray();
    List<BlockKey> keys = Blocks.keys(Blocks.smallSpace(), number, number + random.nextInt(3));
    boolean begins = random.nextBoolean();
    return new RecordedEvent(Kind.values()[random.nextInt(Kind.GAP.ordinal())], begins, begins ? random.nextLong() : 0,
        random.nextInt(3), random.nextInt(1000), values, keys, random.nextBoolean() ? "" : "wörter " + number);
  }

  private static List<RecordedEvent> events(int count, long seed) {
    Random random = new Random(seed);
    List<RecordedEvent> events = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      events.add(event(random, i));
    }
    return events;
  }

  private void write(List<RecordedEvent> events, Options options) {
    try (RecordingWriter writer = RecordingWriter.open(folder, options)) {
      events.forEach(writer::add);
    }
  }

  private List<RecordedEvent> read() {
    return read(folder);
  }

  private static List<RecordedEvent> read(Path recording) {
    List<RecordedEvent> read = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(read::add);
    }
    return read;
  }

  private List<Path> cycles() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".cq4") && !file.toString().contains("metadata")).sorted()
          .toList();
    }
  }

  @Test
  void whatIsWritten_isReadInItsOrder() {
    List<RecordedEvent> events = events(20_000, 1);

    write(events, Options.defaults());

    assertThat(RecordingReader.isRecording(folder)).isTrue();
    assertThat(read()).isEqualTo(events);
  }

  @Test
  void aRecordingThatIsWritten_isRead() {
    List<RecordedEvent> events = events(500, 2);
    try (RecordingWriter writer = RecordingWriter.open(folder, SMALL)) {
      events.forEach(writer::add);

      Eventually.holds("the events are on disk", () -> read().size() == events.size());
      assertThat(read()).isEqualTo(events);
    }
  }

  @Test
  void theOldestFilesGo_whenAllHaveTooManyBytes() throws IOException {
    List<RecordedEvent> events = events(200_000, 3);

    write(events, SMALL);

    assertThat(cycles()).hasSizeBetween(2, 4);
    List<RecordedEvent> left = read();
    RecordedEvent gap = left.removeFirst();
    assertThat(gap.kind()).isEqualTo(Kind.GAP);
    assertThat(left).hasSizeBetween(10_000, 190_000)
        .isEqualTo(events.subList(Math.toIntExact(gap.number(0)), events.size()));
  }

  @Test
  void aDamagedPage_isAGap_andWhatFollowsIsRead() throws IOException {
    List<RecordedEvent> events = events(30_000, 4);
    write(events, Options.defaults());
    try (RandomAccessFile file = new RandomAccessFile(cycles().getFirst().toFile(), "rw")) {
      file.seek(400_000); // in the second page
      int before = file.read();
      file.seek(400_000);
      file.write(before ^ 1);
    }

    List<RecordedEvent> read = read();

    RecordedEvent gap = read.stream().filter(event -> event.kind() == Kind.GAP).findFirst().orElseThrow();
    int at = read.indexOf(gap);
    assertThat(read.subList(0, at)).isEqualTo(events.subList(0, at));
    assertThat(read.subList(at + 1, read.size()))
        .isEqualTo(events.subList(Math.toIntExact(at + gap.number(0)), events.size()));
  }

  @Test
  void oneFile_holdsAllEvents_andIsSmall() throws IOException {
    List<RecordedEvent> events = events(20_000, 6);
    Path file = folder.resolve("kept/incident.pkr");

    assertThat(RecordingFile.write(file, events.iterator())).isEqualTo(events.size());

    assertThat(RecordingReader.isRecording(file)).isTrue();
    assertThat(read(file)).isEqualTo(events);
    assertThat(file.resolveSibling("incident.pkr.part")).doesNotExist();
    RecordingFile.write(file, List.<RecordedEvent>of().iterator());
    assertThat(read(file)).isEmpty();
  }

  /// One event of more bytes than a page has.
  @Test
  void aLongEvent_hasAPageOfItsOwn() {
    List<RecordedEvent> events = new ArrayList<>(events(3, 7));
    events.add(1, new RecordedEvent(Kind.OPENED, true, 1, 0, 0, new long[0], List.of(), "x".repeat(600_000)));
    Path file = folder.resolve("long.pkr");

    RecordingFile.write(file, events.iterator());

    assertThat(read(file)).isEqualTo(events);
  }

  @Test
  void payloads_haveNoPlaceInOneFile() {
    List<RecordedEvent> events = List.of(new RecordedEvent(Kind.PAYLOAD, false, 0, 0, 0, new long[] {1, 0, 64, 0},
        Blocks.keys(Blocks.smallSpace(), 1, 2), ""));
    Path file = folder.resolve("incident.pkr");

    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> RecordingFile.write(file, events.iterator()))
        .withMessageStartingWith("recording in one file must have no payloads (had one of event payload tier 0");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aFileThatWasCutOrDamaged_isRefused() throws IOException {
    Path file = folder.resolve("incident.pkr");
    RecordingFile.write(file, events(5_000, 8).iterator());
    byte[] whole = Files.readAllBytes(file);
    Random random = new Random(9);
    for (int i = 0; i < 20; i++) {
      byte[] damaged = i % 2 == 0 ? Arrays.copyOf(whole, 100 + random.nextInt(whole.length - 100)) : whole.clone();
      damaged[60 + random.nextInt(damaged.length - 60)] ^= (byte) (1 + random.nextInt(255));
      Files.write(file, damaged);

      assertThatExceptionOfType(RecordingFormatException.class).as("damage %d", i).isThrownBy(() -> read(file));
    }
  }

  @Test
  void aFileOfAnotherVersion_isRefusedByName() throws IOException {
    Path file = folder.resolve("other.pkr");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write("penstock recording, format 9\nand what it has".getBytes(StandardCharsets.UTF_8));
    }

    assertThat(RecordingReader.isRecording(file)).isTrue();
    assertThatExceptionOfType(RecordingFormatException.class).isThrownBy(() -> RecordingReader.open(file))
        .withMessageEndingWith("other.pkr must be \"penstock recording, format 1\" (was \"penstock recording,"
            + " format 9\")");
  }

  @Test
  void otherFiles_areNoRecordings() throws IOException {
    Path trace = folder.resolve("trace.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(trace))) {
      out.write("{\"timestamp\": 0}\n".getBytes(StandardCharsets.UTF_8));
    }
    Path text = Files.writeString(folder.resolve("text"), "penstock recording, format 1\n");
    Path empty = Files.writeString(folder.resolve("empty"), "");

    assertThat(Stream.of(trace, text, empty)).noneMatch(RecordingReader::isRecording);
    assertThatExceptionOfType(RecordingFormatException.class).isThrownBy(() -> RecordingReader.open(text))
        .withMessageContaining("must be a whole recording");
  }

  @Test
  void otherFolders_areNoRecordings() throws IOException {
    assertThat(RecordingReader.isRecording(folder)).isFalse();
    assertThatExceptionOfType(RecordingFormatException.class).isThrownBy(() -> RecordingReader.open(folder))
        .withMessageContaining("must be a recording");
    Files.writeString(folder.resolve("recording"), "penstock recording, format 9\n");
    assertThatExceptionOfType(RecordingFormatException.class).isThrownBy(() -> RecordingReader.open(folder))
        .withMessage("recording: file `recording` must be \"penstock recording, format 1\" (was \"penstock recording,"
            + " format 9\")");
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> RecordingWriter.open(folder, Options.defaults())).withMessageContaining("must be empty");
  }
}
