package io.penstock.node.play;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.storage.recording.RecordingWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// The options of `penstock replay RECORDING`, on one recorded run of three levels.
@Timeout(120)
final class RecordingPlayTest {
  private static final List<String> RUN = List.of("replay", "--limit", "14", "--block-bytes", "4KiB", "--hbm",
      "20 blocks", "--ssd", "60 blocks");

  @TempDir
  private static Path shared;

  @TempDir
  private Path folder;

  private static Path recording;
  private static List<RecordedEvent> events;

  @BeforeAll
  static void record() {
    recording = shared.resolve("incident");
    CommandLineRun run = run("--dram", "30 blocks", "--record", recording.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    events = events(recording);
  }

  private static CommandLineRun run(String... more) {
    return CommandLineRun.of(Stream.concat(RUN.stream(), Stream.of(more)).toArray(String[]::new));
  }

  private static List<RecordedEvent> events(Path recording) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  private static CommandLineRun play(Path recording, String... options) {
    return CommandLineRun
        .of(Stream.concat(Stream.of("replay", recording.toString()), Stream.of(options)).toArray(String[]::new));
  }

  private static JsonNode json(CommandLineRun run) {
    assertThat(run.out()).as(run.err()).isNotEmpty();
    return Json.MAPPER.readTree(run.out());
  }

  private Path write(String name, List<RecordedEvent> some) {
    Path written = folder.resolve(name);
    try (RecordingWriter writer = RecordingWriter.open(written, RecordingWriter.Options.defaults())) {
      some.forEach(writer::add);
    }
    return written;
  }

  /// The first event of a kind behind the first few hundred.
  private static int place(Kind kind) {
    int place = 600;
    while (events.get(place).kind() != kind) {
      place++;
    }
    return place;
  }

  @Test
  void playing_hasTheSha256OfTheRecording() {
    JsonNode report = json(play(recording, "--json"));

    assertThat(report.get("equal").asBoolean()).isTrue();
    assertThat(report.get("events").asInt()).isEqualTo(events.size());
    assertThat(report.get("played")).isEqualTo(report.get("recorded"));
    assertThat(report.get("recorded").get("sha256").asString()).hasSize(64);
    assertThat(play(recording).out()).contains("equal to what was recorded; SHA-256 "
        + report.get("recorded").get("sha256").asString());
  }

  @Test
  void firstDifference_isNamedWithItsTurnItsFlowAndTheHistoryOfItsKey() {
    int missing = place(Kind.EVICTED);
    List<RecordedEvent> fewer = new ArrayList<>(events);
    RecordedEvent evicted = fewer.remove(missing);
    Path changed = write("changed", fewer);

    CommandLineRun run = play(changed, "--json");
    JsonNode difference = json(run).get("difference");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(difference.get("number").asInt()).isEqualTo(missing);
    assertThat(difference.get("actual").get("kind").asString()).isEqualTo("evicted");
    assertThat(difference.get("expected").get("line").asString()).isEqualTo(events.get(missing + 1).toString());
    assertThat(difference.get("turn").get("begins").asBoolean()).isTrue();
    assertThat(difference.get("before")).hasSize(12);
    String key = difference.get("key").asString();
    assertThat(difference.get("ofKey")).isNotEmpty().allSatisfy(event -> assertThat(keys(event)).contains(key));
    assertThat(json(run).get("played")).isNotEqualTo(json(run).get("recorded"));
    assertThat(play(changed).out()).contains("DIFFERENT: event " + missing + " must be ", "(was " + evicted + ")",
        "in the turn that begins with event ", "the last events before it:", "the last events of key " + key);
  }

  private static List<String> keys(JsonNode event) {
    return StreamSupport.stream(event.get("keys").spliterator(), false).map(JsonNode::asString).toList();
  }

  @Test
  void breakAt_showsTheStateBeforeTheTurnOfTheEvent() {
    int place = place(Kind.SLICE);
    JsonNode report = json(play(recording, "--break-at", String.valueOf(place), "--json"));

    int begin = place;
    while (!events.get(begin).begins()) {
      begin--;
    }
    assertThat(report.get("stop").get("event").asInt()).isEqualTo(begin);
    assertThat(report.get("events").asInt()).isEqualTo(begin);
    JsonNode state = report.get("state").get(0);
    List<String> levels = new ArrayList<>();
    state.get("stat").get("levels").forEach(level -> levels.add(level.get("name").asString()));
    assertThat(levels).containsExactly("hbm", "dram", "ssd");
    int blocks = 0;
    for (JsonNode ofLevels : state.get("blocks")) {
      blocks += ofLevels.size();
    }
    assertThat(blocks).isPositive().isEqualTo(state.get("stat").get("blocks").asInt());
    assertThat(state.get("streams")).isNotEmpty();
    assertThat(state.get("handles")).isNotEmpty();
    assertThat(play(recording, "--break-at", String.valueOf(place)).out()).contains("stopped before event " + begin,
        "LEVEL  BLOCKS  CAPACITY", "read leases: ", "open streams: ");
  }

  @Test
  void until_endsBehindTheTurnOfTheEvent_orAtATime() {
    JsonNode report = json(play(recording, "--until", "500", "--json"));

    assertThat(report.get("equal").asBoolean()).isTrue();
    assertThat(report.get("events").asInt()).isEqualTo(report.get("stop").get("event").asInt()).isGreaterThan(500);
    assertThat(json(play(recording, "--until", "1ns", "--json")).get("turns").asInt()).as("versions, and the opening")
        .isEqualTo(2);
  }

  @Test
  void flow_showsTheEventsOfALeaseAndOfItsStreams() {
    RecordedEvent lease = events.get(place(Kind.LEASE));
    JsonNode flow = json(play(recording, "--flow", String.valueOf(lease.flow()), "--json")).get("flow");

    List<String> kinds = new ArrayList<>();
    flow.get("events").forEach(event -> kinds.add(event.get("kind").asString()));
    assertThat(kinds).startsWith("lease", "leased").contains("sliced windows", "request", "close");
    assertThat(flow.get("played")).isEqualTo(flow.get("recorded"));
    assertThat(play(recording, "--flow", "commit").out()).contains("flow commit: equal to what was recorded");
  }

  @Test
  void repeatedPlayings_haveOneSha256() {
    JsonNode repeated = json(play(recording, "--repeat", "2", "--json"));

    assertThat(repeated.get("equal").asBoolean()).isTrue();
    assertThat(repeated.get("runs")).hasSize(2);
  }

  @Test
  void severalRecordings_areOneDocument() throws IOException {
    Path several = Files.createDirectory(folder.resolve("two"));
    write("two/one", events);
    write("two/other", events);

    JsonNode repeated = json(play(several, "--repeat", "2", "--json"));
    JsonNode changed = json(play(several, "--with-change", "dram=90 blocks", "--json"));

    assertThat(repeated.get("recordings")).hasSize(2)
        .allSatisfy(each -> assertThat(each.get("runs")).hasSize(2));
    assertThat(changed.get("recordings")).hasSize(2)
        .allSatisfy(each -> assertThat(each.get("change").asString()).isEqualTo("dram=90 blocks"));
  }

  /// A reader that never ends, and a call that failed.
  @Test
  void recordedFigures_haveWhatWasNotAnswered_andWhatFailed() {
    RecordedEvent lease = events.get(place(Kind.LEASE));
    List<RecordedEvent> some = new ArrayList<>(events);
    some.removeIf(event -> event.kind() == Kind.CLOSE && event.flow() == lease.flow());
    some.add(new RecordedEvent(Kind.RESERVE, true, events.getLast().at(), 0, 1L << 40, new long[] {-1, 0, 0},
        lease.keys(), ""));
    some.add(new RecordedEvent(Kind.FAILED, false, 0, 0, 1L << 40, new long[0], List.of(), "PutFullException: full"));

    RecordedTimes whole = new RecordedTimes(events.iterator());
    RecordedTimes times = new RecordedTimes(some.iterator());

    assertThat(times.unanswered() - whole.unanswered()).isEqualTo(1);
    assertThat(times.refused() - whole.refused()).isEqualTo(1);
    JsonNode change = json(play(recording, "--with-change", "dram=90 blocks", "--json"));
    assertThat(change.get("recorded").get("unanswered").asLong()).isEqualTo(whole.unanswered())
        .isEqualTo(change.get("before").get("unanswered").asLong());
    assertThat(change.get("recorded").get("refused").asLong()).isEqualTo(whole.refused());
  }

  @Test
  void tiersOfAnotherSize_haveTheHitsOfARunOnThem() {
    JsonNode change = json(play(recording, "--with-change", "dram=90 blocks", "--json"));
    JsonNode itself = json(run("--dram", "90 blocks", "--json"));

    assertThat(change.get("before").get("hits")).isEqualTo(change.get("recorded").get("hits"));
    assertThat(change.get("before").get("misses")).isEqualTo(change.get("recorded").get("misses"));
    assertThat(change.get("after").get("hits")).isEqualTo(itself.get("hitsByTier"))
        .isNotEqualTo(change.get("before").get("hits"));
    assertThat(change.get("after").get("unanswered").asInt()).isZero();
    assertThat(play(recording, "--with-change", "policy=fifo,hbm=0,ssd=off").out()).contains("RECORDED  ",
        "with policy=fifo,hbm=off,ssd=off", "latencies are those of the recorded load");
  }

  @Test
  void folderOfRecordings_isPlayedWhole() throws IOException {
    Path several = Files.createDirectory(folder.resolve("several"));
    write("several/decode", signals(1));
    write("several/prefill", signals(1));

    JsonNode whole = json(play(several, "--json"));

    assertThat(whole.get("equal").asBoolean()).isTrue();
    assertThat(whole.get("recordings")).hasSize(2);
    assertThat(play(several.resolve("decode"), several.resolve("prefill").toString(), "--json").out())
        .isEqualTo(play(several, "--json").out());
    assertThat(play(several, several.resolve("nothing").toString()).exitCode()).isEqualTo(65);
  }

  /// A named flow whose reader requests one element, and which has `elements`.
  private static List<RecordedEvent> signals(int elements) {
    List<RecordedEvent> signals = new ArrayList<>();
    signals.add(signal(Kind.FLOW, new long[] {0}, "load"));
    signals.add(signal(Kind.FLOW_REQUEST, new long[] {1}, ""));
    for (int i = 0; i < elements; i++) {
      signals.add(signal(Kind.FLOW_NEXT, new long[0], "element " + i));
    }
    signals.add(signal(Kind.FLOW_COMPLETE, new long[0], ""));
    return signals;
  }

  private static RecordedEvent signal(Kind kind, long[] numbers, String text) {
    return new RecordedEvent(kind, true, 1, 0, -1, numbers, List.of(), text);
  }

  @Test
  void recordingOfSignals_isCheckedByTheRulesOfStreams() {
    CommandLineRun kept = play(write("kept", signals(1)), "--flow", "load");
    CommandLineRun broken = play(write("broken", signals(2)));

    assertThat(kept.exitCode()).as(kept.out()).isZero();
    assertThat(kept.out()).contains("flow load: equal to what was recorded");
    assertThat(broken.exitCode()).isEqualTo(1);
    assertThat(broken.out()).contains("BROKEN: rule demand at event 3: ");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--dram 10|--dram must be left out with a recording",
    "--until soon|--until must be the number of an event, or a time",
    "--until 5 --break-at 6|--until must be left out with --break-at",
    "--repeat 0|--repeat must be >= 1 (was 0)",
    "--flow nothing|--flow must be the number or the name of a flow",
    "--with-change size=3|--with-change must be NAME=VALUE with the names policy, hbm, dram, ssd (was size=3)",
    "--with-change policy=best|--with-change policy must be ",
    "--with-change dram=many|--with-change dram must be ",
    "--with-change dram=5 --repeat 2|--repeat must be left out with --with-change"})
  void optionThatMakesNoSense_isRefusedByName(String options, String message) {
    CommandLineRun run = play(recording, options.split(" "));

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("replay: " + message);
  }

  @Test
  void optionOfARecording_isRefusedBesideATrace() {
    CommandLineRun run = CommandLineRun.of("replay", "--limit", "1", "--break-at", "3");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--break-at must be left out without a recording");
  }
}
