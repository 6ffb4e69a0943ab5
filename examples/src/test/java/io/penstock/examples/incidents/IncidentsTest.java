package io.penstock.examples.incidents;

import static io.penstock.examples.incidents.script.Words.keys;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.incidents.IncidentRun.End;
import io.penstock.examples.incidents.peer.CachedVerdict;
import io.penstock.examples.incidents.peer.CountedDone;
import io.penstock.examples.incidents.peer.EarlyAck;
import io.penstock.examples.incidents.peer.EarlyOk;
import io.penstock.examples.incidents.peer.EdgeHeartbeat;
import io.penstock.examples.incidents.peer.LateStore;
import io.penstock.examples.incidents.peer.LoggedExpiry;
import io.penstock.examples.incidents.peer.LostFin;
import io.penstock.examples.incidents.peer.RefusedPuts;
import io.penstock.examples.incidents.peer.StoreAnnouncedEarly;
import io.penstock.examples.incidents.peer.UncheckedLoad;
import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.examples.incidents.script.Words;
import io.penstock.node.PenstockMain;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/// Each incident is found in its recording, and Penstock keeps the promise that the peer breaks.
@Timeout(60)
final class IncidentsTest {
  private static final Path PAGE =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("docs/incidents.md");

  static Stream<String> names() {
    return Gallery.INCIDENTS.stream().map(Incident::name);
  }

  private static Incident incident(String name) {
    return Gallery.INCIDENTS.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  private static IncidentReport report(String name) throws IOException {
    ShippedRecordings shipped = new ShippedRecordings();
    return new IncidentRun(incident(name), shipped.recording(name), shipped.expected(name)).run();
  }

  @ParameterizedTest
  @MethodSource("names")
  void incident_playsAsRecorded_isFound_andEndsWellOnPenstock(String name) throws IOException {
    IncidentReport report = report(name);

    assertThat(report.difference()).isNull();
    assertThat(report.event()).isEqualTo(new ShippedRecordings().expected(name).event());
    assertThat(report.plays()).isLessThanOrEqualTo(ceilingLog2(report.events()) + 3);
    assertThat(report.millis()).isLessThan(60_000);
    assertThat(report.broken()).isNull();
    assertThat(report.holds()).as("%s", report).isTrue();
  }

  private static int ceilingLog2(int events) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(events - 1);
  }

  @ParameterizedTest
  @MethodSource("names")
  void recording_isThatOfTheScheduleAndTheDouble(String name) throws IOException {
    Incident incident = incident(name);
    try (Subject peer = incident.peer().get()) {
      IncidentRecording recorded = IncidentRecording.record(name, incident.schedule().inputs(), peer);

      assertThat(new ShippedRecordings().recording(name)).isEqualTo(recorded);
      assertThat(new ShippedRecordings().expected(name).sha256()).isEqualTo(recorded.sha256());
    }
  }

  /// The event that is found leads to the failure: without the input that it begins, or before it, the promise holds.
  @ParameterizedTest
  @MethodSource("names")
  void promise_isKeptUpToTheFoundEvent(String name) throws IOException {
    IncidentRecording recording = new ShippedRecordings().recording(name);
    int event = new ShippedRecordings().expected(name).event();
    assertThat(recording.events().get(event).begins()).isTrue();

    IncidentRecording before = new IncidentRecording(name, recording.events().subList(0, event));

    assertThat(IncidentRun.end(before.inputs(), incident(name).peer()).violation()).isNull();
  }

  private static RecordedEvent changed(RecordedEvent event, long millis, Kind kind) {
    long[] numbers = new long[event.size()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = event.number(i);
    }
    return Words.input(millis, kind, event.flow(), event.text(), event.keys(), numbers);
  }

  /// Input number `from` comes at the place `to`, at the time of the input there.
  private static List<RecordedEvent> moved(Schedule schedule, int from, int to) {
    List<RecordedEvent> inputs = new ArrayList<>(schedule.inputs());
    long millis = inputs.get(to).at() / 1_000_000;
    RecordedEvent moved = inputs.remove(from);
    inputs.add(to, changed(moved, millis, moved.kind()));
    return inputs;
  }

  private static List<RecordedEvent> without(List<RecordedEvent> all, int input) {
    List<RecordedEvent> inputs = new ArrayList<>(all);
    inputs.remove(input);
    return inputs;
  }

  private static List<RecordedEvent> stored(Schedule schedule, int input) {
    List<RecordedEvent> inputs = new ArrayList<>(schedule.inputs());
    RecordedEvent failed = inputs.get(input);
    inputs.set(input, changed(failed, failed.at() / 1_000_000, Kind.STORE_DONE));
    return inputs;
  }

  /// The doubles fail through their mechanism: a schedule that does not meet it ends well.
  @Test
  void doubles_endWellUnderInputsThatMissTheFault() {
    assertGood(stored(UncheckedLoad.schedule(), 5), new UncheckedLoad());
    assertGood(stored(StoreAnnouncedEarly.schedule(), 3), new StoreAnnouncedEarly());
    assertGood(moved(LoggedExpiry.schedule(), 3, 1), new LoggedExpiry());
    assertGood(without(LostFin.schedule().inputs(), 2), new LostFin());
    assertGood(RefusedPuts.schedule().inputs(), new RefusedPuts(3 * RefusedPuts.PROMPT_BLOCKS));
    assertGood(without(moved(EdgeHeartbeat.schedule(), 6, 5), 7), new EdgeHeartbeat());
    assertGood(without(CachedVerdict.schedule().inputs(), 0), new CachedVerdict());
    assertGood(moved(CountedDone.schedule(), 3, 6), new CountedDone());
    assertGood(moved(EarlyAck.schedule(), 4, 2), new EarlyAck());
    assertGood(moved(LateStore.schedule(), 3, 1), new LateStore());
    assertGood(moved(EarlyOk.schedule(), 4, 2), new EarlyOk());
  }

  private static void assertGood(List<RecordedEvent> inputs, Subject peer) {
    End end = IncidentRun.end(inputs, () -> peer);
    assertThat(end.violation()).as("%s: %s", peer, end).isNull();
    assertThat(end.isGood()).as("%s: %s", peer, end).isTrue();
  }

  @Test
  void namesOfBlocks_areReadable() {
    assertThat(Words.names(keys(2, 0, 6))).isEqualTo("r2.0 r2.1 r2.2 r2.3 … (6)");
  }

  @ParameterizedTest
  @MethodSource("names")
  void page_showsTheEventsAsTheyAre(String name) throws IOException {
    String text = IncidentPage.of(incident(name), new ShippedRecordings().recording(name), report(name));

    assertThat(Files.readString(PAGE)).contains("```text\n" + text + "```\n");
  }

  // The command

  private final ConsoleCapture capture = new ConsoleCapture();

  private int run(String... args) {
    String[] all = new String[args.length + 1];
    all[0] = "incidents";
    System.arraycopy(args, 0, all, 1, args.length);
    return Examples.run(all, capture.console());
  }

  @Test
  void command_showsAllInATable() {
    assertThat(run()).as(capture.err()).isZero();
    assertThat(capture.out()).contains("INCIDENT", "third-prompt", "kvcache-ai/Mooncake #3331", "keeps the promise")
        .endsWith("incidents: 11, each played to equal events, found, and kept by Penstock: yes\n");
  }

  @Test
  void json_hasEveryReport() {
    assertThat(run("--json")).isZero();

    JsonNode reports = Json.MAPPER.readTree(capture.out());
    assertThat(reports.size()).isEqualTo(Gallery.INCIDENTS.size());
    assertThat(reports.get(4).path("peer").asString()).endsWith("[49984, 16384, 0]");
    assertThat(reports.get(4).path("penstock").asString()).contains("[49984, 49984, 49984]");
    assertThat(reports.get(4).path("holds").asBoolean()).isTrue();
  }

  @Test
  void unknownName_isRefusedWithTheNearestOne() {
    assertThat(run("lost-fine")).isEqualTo(2);
    assertThat(capture.err()).contains("(was lost-fine)", "did you mean lost-fin?");
  }

  @Test
  void recordedFile_isPlayed_andAChangedOneIsNamed(@TempDir Path folder) {
    assertThat(run("lost-fin", "--record", folder.toString())).as(capture.err()).isZero();
    Path file = folder.resolve("lost-fin.recording");
    assertThat(run("--play", file.toString())).isZero();

    IncidentRecording recording = IncidentRecording.read(file);
    List<RecordedEvent> events = new ArrayList<>(recording.events());
    RecordedEvent fin = events.get(6);
    events.set(6, Words.fact(fin.kind(), fin.flow(), "FIN", List.of(), 1, 2, 1));
    new IncidentRecording("lost-fin", events).write(file);

    assertThat(run("--play", file.toString())).isEqualTo(1);
    assertThat(capture.out()).contains("DOES NOT HOLD", "event 6 must be link");
  }

  @Test
  void play_isReplay_forTheNamedIncidentAlone_andRecordsItsInputsAgain(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("any-name");
    new ShippedRecordings().recording("lost-fin").write(file);

    assertThat(run("lost-fin", "--play", file.toString(), "--record", folder.resolve("again").toString())).isZero();
    assertThat(IncidentRecording.read(folder.resolve("again").resolve("lost-fin.recording")))
        .isEqualTo(new ShippedRecordings().recording("lost-fin"));
    ConsoleCapture replayed = new ConsoleCapture();
    PenstockMain.commandLine(replayed.console()).execute("replay", file.toString());
    assertThat(withoutTime(capture.out())).isEqualTo(withoutTime(replayed.out()));

    assertThat(run("third-prompt", "--play", file.toString())).isEqualTo(2);
    assertThat(capture.err()).contains("NAME must be the incident of the recording", "lost-fin (was third-prompt)");
  }

  /// The table has how long the search took.
  private static String withoutTime(String out) {
    return out.replaceAll("[0-9]+\\.[0-9]{2} ", "").replaceAll(" +", " ");
  }

  @Test
  void severalIncidents_areOneDocument(@TempDir Path folder) throws IOException {
    Path one = folder.resolve("one");
    Path other = folder.resolve("other");
    new ShippedRecordings().recording("lost-fin").write(one);
    new ShippedRecordings().recording("third-prompt").write(other);

    assertThat(PenstockMain.commandLine(capture.console()).execute("replay", one.toString(), other.toString(),
        "--json")).as(capture.err()).isZero();

    assertThat(Json.MAPPER.readTree(capture.out()).size()).isEqualTo(2);
  }

  @Test
  void replay_recognisesAnIncidentByItsContent(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("any-name");
    new ShippedRecordings().recording("fast-restart").write(file);

    assertThat(PenstockMain.commandLine(capture.console()).execute("replay", file.toString())).as(capture.err())
        .isZero();

    assertThat(capture.out()).startsWith("fast-restart: ").contains("3 of 3 stores taken");
  }

  @Test
  void otherFile_isNoIncident(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("other.recording");
    new IncidentRecording("none", List.of(Words.input(0, Kind.TIMER, 0, "other", List.of()))).write(file);

    assertThat(run("--play", file.toString())).isNotZero();
    assertThat(capture.err()).contains("first event must be one that names an incident");
  }
}
