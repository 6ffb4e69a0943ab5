package io.penstock.node.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.node.cli.DataException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceReaderTest {
  private static final String GOOD =
      "{\"timestamp\": 5, \"input_length\": 700, \"output_length\": 9, \"hash_ids\": [1, 2]}\n";

  @Test
  void next_wellFormedLines_areReadInOrderAndThenEnd() {
    List<TraceRequest> requests = all(reader(GOOD + "\n  \r\n" + GOOD.replace("5,", "6,").strip()));

    assertThat(requests).containsExactly(
        new TraceRequest(5, 700, 9, List.of(1L, 2L)), new TraceRequest(6, 700, 9, List.of(1L, 2L)));
  }

  @Test
  void next_qwenBailianForm_countsSeconds() {
    String line = "{\"chat_id\": 7, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 40, "
        + "\"output_length\": 5, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [3, 4, 5]}\n";

    assertThat(all(reader(line + line.replace("61.114", "62")))).containsExactly(
        new TraceRequest(61_114, 40, 5, List.of(3L, 4L, 5L)), new TraceRequest(62_000, 40, 5, List.of(3L, 4L, 5L)));
    assertThatThrownBy(reader(line.replace("61.114", "-0.5"))::next)
        .hasMessage("t.jsonl, line 1: timestamp must be seconds in [0, 1e12] (was -0.5)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n \n"})
  void next_withoutARequest_isBroken(String text) {
    assertThatThrownBy(reader(text)::next).isInstanceOf(TraceFormatException.class)
        .hasMessage("t.jsonl, line %d: request must be there at least once (was absent)", text.lines().count() + 1);
  }

  @Test
  void next_unknownFields_arePassedOver() {
    String line =
        "{\"model\": {\"name\": [1, {}]}, \"timestamp\": 0, \"hash_ids\": [], \"input_length\": 0, "
            + "\"output_length\": 0, \"x\": null}";

    assertThat(all(reader(line))).containsExactly(new TraceRequest(0, 0, 0, List.of()));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
    "{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1]} | timestamp | milliseconds "
        + "in [0, 1e15] | -1",
    "{\"timestamp\": \"now\", \"input_length\": 1, \"hash_ids\": [1]} | timestamp | a number | now",
    "{\"delay\": 1, \"input_length\": 1, \"hash_ids\": [1]} | session_id | present beside delay | absent",
    "{\"delay\": 1, \"session_id\": \"a\", \"input_length\": 1, \"hash_ids\": [1]} | timestamp | present in the "
        + "first line of a session | absent",
    "{\"timestamp\": 1, \"input_length\": \"many\", \"output_length\": 1, \"hash_ids\": [1]} | input_length | a "
        + "whole number >= 0 | many",
    "{\"timestamp\": 1, \"input_length\": \" \", \"output_length\": 1, \"hash_ids\": [1]} | input_length | a whole "
        + "number >= 0 | blank",
    "{\"timestamp\": 1, \"hash_ids\": [1]} | input_length | present | absent",
    "{\"timestamp\": 1, \"messages\": [{}], \"output_length\": 5} | input_length | present beside messages, since "
        + "Penstock does not cut a text into blocks | absent",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1} | hash_ids | present | absent",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": 7} | hash_ids | an array of whole "
        + "numbers | 7",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1, null]} | hash_ids | whole "
        + "numbers in [0, 2^64 - 1] | null",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [18446744073709551616]} | hash_ids "
        + "| whole numbers in [0, 2^64 - 1] | 18446744073709551616",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [-1]} | hash_ids | whole numbers in "
        + "[0, 2^64 - 1] | -1",
    "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [4, 5, 4]} | hash_ids | distinct, "
        + "as each stands for all before it | [4, 5, 4]",
    "[1, 2] | line | a JSON object | [1, 2]",
    "{} {} | input_length | present | absent",
  })
  void next_badLine_namesFileLineFieldRuleAndValue(String line, String field, String rule, String value) {
    TraceReader reader = reader(GOOD + line + "\n");
    reader.next();

    TraceFormatException e = catchThrowableOfType(TraceFormatException.class, reader::next);

    assertThat(e).hasMessage("t.jsonl, line 2: %s must be %s (was %s)", field, rule, value);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\0',
      value = {"not json", "{\"timestamp\": 1, \"inp", "{\"timestamp\": }"})
  void next_brokenJson_isATypedErrorOnThatLine(String line) {
    TraceReader reader = reader(line);

    TraceFormatException e = catchThrowableOfType(TraceFormatException.class, reader::next);

    assertThat(e).hasMessageStartingWith("t.jsonl, line 1: ").hasMessageEndingWith("(was " + line.strip() + ")");
  }

  @Test
  void next_endlessLine_isRefusedInBoundedMemory() {
    byte[] endless = new byte[TraceReader.MAX_LINE_BYTES + 100];
    java.util.Arrays.fill(endless, (byte) '7');

    TraceFormatException e = catchThrowableOfType(TraceFormatException.class,
        () -> new TraceReader("t.jsonl", new ByteArrayInputStream(endless)).next());

    assertThat(e).hasMessageContaining(" bytes");
  }

  @Test
  void write_thenRead_isTheSameWithAndWithoutPacking(@TempDir Path folder) throws IOException {
    List<TraceRequest> requests = all(new TraceGenerator(new GeneratorOptions(200, 5)));
    for (String name : List.of("t.jsonl", "t.jsonl.gz")) {
      Path file = folder.resolve(name);
      try (TraceWriter writer = TraceWriter.create(file)) {
        requests.forEach(writer::write);
      }
      try (TraceReader reader = TraceReader.open(file)) {
        assertThat(all(reader)).isEqualTo(requests);
      }
    }
    assertThat(Files.size(folder.resolve("t.jsonl.gz"))).isLessThan(Files.size(folder.resolve("t.jsonl")));
  }

  @Test
  void write_isSpacedAsThePublishedTraces() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (TraceWriter writer = new TraceWriter(out)) {
      writer.write(new TraceRequest(5, 700, 9, List.of(1L, 2L)));
    }
    assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo(GOOD);
  }

  @Test
  void next_fractionsNullsAndUnsignedIds_areRead() {
    String line = "{\"timestamp\": 27482.5, \"delay\": null, \"input_length\": 700, \"output_length\": null, "
        + "\"hash_ids\": [18446744073709551615, 9223372036854775808]}";

    assertThat(all(reader(line))).containsExactly(
        new TraceRequest(27_483, 700, 0, List.of(-1L, Long.MIN_VALUE)));
  }

  @Test
  void write_unsignedIds_areReadAgain() {
    TraceRequest request = new TraceRequest(5, 700, 9, List.of(-1L, 7L));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (TraceWriter writer = new TraceWriter(out)) {
      writer.write(request);
    }
    assertThat(all(reader(out.toString(StandardCharsets.US_ASCII)))).containsExactly(request);
  }

  @Test
  void next_badLines_areSkippedUpToTheNumberThatMayBe() {
    List<String> notes = new ArrayList<>();
    String text = GOOD + "not json\n" + GOOD + "{}\n" + GOOD;
    TraceReader two = reader(text, TraceOptions.defaults().withSkipBad(2, notes::add));
    TraceReader one = reader(text, TraceOptions.defaults().withSkipBad(1, notes::add));

    assertThat(all(two)).hasSize(3);
    assertThat(two.skipped()).isEqualTo(2);
    two.close();
    assertThat(notes).singleElement().asString()
        .startsWith("2 lines skipped, the first is t.jsonl, line 2: line must be JSON (was not json)");
    assertThatThrownBy(() -> all(one)).hasMessageStartingWith("t.jsonl, line 4: input_length must be present");
    one.close();
    assertThat(notes.getLast())
        .startsWith("1 line skipped, as many as --skip-bad allows, the first is t.jsonl, line 2");
  }

  @Test
  void next_gzipThatIsCut_isNoTrace(@TempDir Path folder) throws IOException {
    byte[] whole = packed(GOOD.repeat(500));
    Path file = folder.resolve("t.jsonl.gz");
    Files.write(file, Arrays.copyOf(whole, whole.length - 10));
    try (TraceReader reader = TraceReader.open(file)) {
      assertThatThrownBy(() -> all(reader)).isInstanceOf(DataException.class)
          .hasMessageContaining("must be whole gzip");
    }
  }

  @Test
  void next_promptWithoutBlocks_isRefused_andTimesThatGoBack_areTold() {
    assertThatThrownBy(() -> all(reader("{\"timestamp\": 1, \"input_length\": 600, \"hash_ids\": []}\n")))
        .hasMessage("t.jsonl, line 1: hash_ids must be at least one for an input_length of 600 (was none)");
    List<String> notes = new ArrayList<>();
    String line = "{\"timestamp\": %d, \"input_length\": 600, \"hash_ids\": [1, 2]}\n";
    try (TraceReader back = reader(line.formatted(9) + line.formatted(5) + line.formatted(1),
        TraceOptions.defaults().withSkipBad(0, notes::add))) {
      assertThat(all(back)).extracting(TraceRequest::timestampMillis).containsExactly(9L, 5L, 1L);
    }
    assertThat(notes)
        .containsExactly("t.jsonl, line 2: timestamp is before that of the line above; requests are served "
            + "in the order of the lines");
  }

  @ParameterizedTest
  @ValueSource(strings = {"t.GZ", "t.jsonl"})
  void next_severalGzipMembers_areAllRead_whateverTheName(String name, @TempDir Path folder) throws IOException {
    Path file = folder.resolve(name);
    Files.write(file, concat(packed(GOOD), packed(""), packed(GOOD), new byte[40]));
    try (TraceReader reader = TraceReader.open(file)) {
      assertThat(all(reader)).hasSize(2);
    }
    Files.write(file, concat(packed(GOOD), packed(GOOD), GOOD.getBytes(StandardCharsets.UTF_8)));
    try (TraceReader reader = TraceReader.open(file)) {
      assertThatThrownBy(() -> all(reader)).hasMessageContaining("must end with a whole member");
    }
  }

  /// A pipe reports no available byte between two members.
  @Test
  void next_membersFromAPipe_areAllRead() throws IOException {
    InputStream pipe = new FilterInputStream(new ByteArrayInputStream(concat(packed(GOOD), packed(GOOD)))) {
      @Override
      public int available() {
        return 0;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        return super.read(bytes, offset, Math.min(length, 7));
      }
    };

    assertThat(all(new TraceReader("-", TraceStream.unpacked("-", pipe), TraceOptions.defaults()))).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"28b52ffd00, zstd", "5041523115, Parquet"})
  void open_otherPacking_isNamed(String bytes, String name) {
    byte[] file = HexFormat.of().parseHex(bytes);

    assertThatThrownBy(() -> TraceStream.unpacked("t", new ByteArrayInputStream(file)))
        .isInstanceOf(DataException.class).hasMessageStartingWith("t must be text or gzip (was " + name);
  }

  private static byte[] packed(String text) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return out.toByteArray();
  }

  private static byte[] concat(byte[]... parts) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.write(part);
    }
    return all.toByteArray();
  }

  private static TraceReader reader(String text, TraceOptions options) {
    return new TraceReader("t.jsonl", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), options);
  }

  static List<TraceRequest> all(TraceSource source) {
    List<TraceRequest> requests = new ArrayList<>();
    for (TraceRequest request = source.next(); request != null; request = source.next()) {
      requests.add(request);
    }
    return requests;
  }

  private static TraceReader reader(String text) {
    return new TraceReader("t.jsonl", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }
}
