package io.penstock.node.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.play.Salt;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The commands about recordings, on one that a replay made.
@Timeout(120)
final class RecordingCommandTest {
  private static final List<String> TIERS = List.of("--hbm", "20 blocks", "--dram", "30 blocks", "--ssd", "50 blocks");

  @TempDir
  private static Path folder;

  @TempDir
  private Path own;

  private static String recording = "";
  private static List<RecordedEvent> events = List.of();
  private static long hits;

  @BeforeAll
  static void record() {
    recording = folder.resolve("incident").toString();
    JsonNode replayed = json(ExitCode.OK, replay("--limit", "20", "--record", recording));
    hits = replayed.get("hits").asLong();
    events = Recordings.all(Path.of(recording));
  }

  private static String[] replay(String... more) {
    List<String> arguments = new ArrayList<>(List.of("replay"));
    arguments.addAll(List.of(more));
    arguments.addAll(TIERS);
    arguments.addAll(List.of("--scale", "16384", "--json"));
    return arguments.toArray(String[]::new);
  }

  private static String out(int code, String... arguments) {
    CommandLineRun run = CommandLineRun.of(arguments);
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(code);
    return run.out();
  }

  private static JsonNode json(int code, String... arguments) {
    return Json.MAPPER.readTree(out(code, arguments));
  }

  private static String refused(int code, String... arguments) {
    CommandLineRun run = CommandLineRun.of(arguments);
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(code);
    return run.err();
  }

  @Test
  void info_saysWhatIsInIt() {
    JsonNode info = json(ExitCode.OK, "recording", "info", recording, "--json");

    assertThat(info.get("events").asLong()).isEqualTo(events.size());
    assertThat(info.get("requests").asLong()).isEqualTo(20);
    assertThat(info.get("playable").asBoolean()).isTrue();
    assertThat(out(ExitCode.OK, "recording", "info", recording)).contains("can be played", "policy lru");
  }

  @Test
  void dump_choosesEvents() {
    long from = events.size() / 2;
    String lines = out(ExitCode.OK, "recording", "dump", recording, "--kind", "moved,evicted", "--from", "" + from);

    long expected = events.stream().skip(from)
        .filter(event -> event.kind() == Kind.MOVED || event.kind() == Kind.EVICTED).count();
    assertThat(lines.lines()).hasSize((int) expected).allMatch(line -> line.contains(" tier 0 "));
    RecordedEvent lease = events.stream().filter(event -> event.kind() == Kind.LEASE).findFirst().orElseThrow();
    assertThat(out(ExitCode.OK, "recording", "dump", recording, "--flow", "" + lease.flow(), "--json").lines())
        .anyMatch(line -> line.contains("\"kind\":\"slice\""));
    String hash = lease.keys().getFirst().hash().toString();
    assertThat(out(ExitCode.OK, "recording", "dump", recording, "--key", hash.substring(0, 12)).lines())
        .anyMatch(line -> line.contains("stored"));
  }

  @Test
  void cut_playsUpToThere() {
    String cut = own.resolve("small.recording").toString();
    json(ExitCode.OK, "recording", "cut", recording, cut, "--until", "" + events.size() / 2, "--json");

    assertThat(out(ExitCode.OK, "replay", cut)).contains("equal to what was recorded");
    assertThat((long) Recordings.all(Path.of(cut)).size()).isBetween(events.size() / 2L, events.size() - 1L);
    assertThat(refused(ExitCode.USAGE, "recording", "cut", recording, cut + "2", "--until", "1h", "--from", "7"))
        .contains("a recording without its beginning cannot be played");
    assertThat(refused(ExitCode.USAGE, "recording", "cut", recording, cut, "--until", "1h"))
        .contains("OUT must not be there yet");
  }

  @Test
  void cut_keepsPayloads_orSaysThatTheyAreLeftOut() {
    String whole = own.resolve("with payloads").toString();
    json(ExitCode.OK, replay("--limit", "10", "--record", whole, "--record-payloads"));
    int half = Recordings.all(Path.of(whole)).size() / 2;
    String without = own.resolve("without.recording").toString();
    String kept = own.resolve("kept").toString();

    JsonNode left = json(ExitCode.OK, "recording", "cut", whole, without, "--until", "" + half, "--json");
    JsonNode copied = json(ExitCode.OK, "recording", "cut", whole, kept, "--until", "" + half, "--payloads", "--json");

    assertThat(left.get("leftOut").asLong()).isPositive();
    assertThat(copied.get("payloads").asLong()).isGreaterThanOrEqualTo(left.get("leftOut").asLong());
    assertThat(copied.get("leftOut").asLong()).isZero();
    assertThat(Recordings.all(Path.of(kept))).isEqualTo(Recordings.all(Path.of(whole))
        .subList(0, Math.toIntExact(copied.get("events").asLong())));
    assertThat(out(ExitCode.OK, "replay", kept)).contains("bytes of blocks are compared, too", "equal to what was");
    assertThat(out(ExitCode.OK, "replay", without)).contains("bytes of blocks were not recorded", "equal to what was");
    assertThat(out(ExitCode.OK, "recording", "cut", whole, without + "2", "--until", "" + half))
        .contains("were left out, as without --payloads");
  }

  @Test
  void report_hasWaterfallsOfTheSlowestAndTheFirstRequests() throws IOException {
    Path page = own.resolve("report.html");
    Path document = own.resolve("report.json");
    out(ExitCode.OK, "replay", recording, "--report", page.toString(), "--report", document.toString());

    assertThat(Files.readString(page)).contains("Played as it was recorded", "equal to what was recorded; SHA-256",
        "One of the slowest: request ", "One of the first: request ", "a store read its blocks")
        .doesNotContain("<script", "http-equiv=\"refresh");
    assertThat(Files.readString(page).split("<svg ", -1)).hasSize(1 + 5 + 3);
    assertThat(Json.MAPPER.readTree(Files.readString(document)).get("equal").asBoolean()).isTrue();
  }

  @Test
  void anonymise_keepsWhatHappened_andNothingThatTells() throws IOException {
    Path copy = own.resolve("anonymous.recording");
    Path salted = own.resolve("salted.recording");
    Path salt = Files.writeString(own.resolve("salt"), "no one guesses this salt");
    JsonNode report = json(ExitCode.OK, "recording", "anonymise", recording, copy.toString(), "--json");
    json(ExitCode.OK, "recording", "anonymise", recording, salted.toString(), "--salt-file", salt.toString(), "--json");

    assertThat(report.get("equal").asBoolean()).isTrue();
    Set<BlockKey> keys = new HashSet<>();
    events.forEach(event -> keys.addAll(event.keys()));
    List<RecordedEvent> copied = Recordings.all(copy);
    assertThat(copied).hasSameSizeAs(events).noneMatch(event -> event.keys().stream().anyMatch(keys::contains))
        .noneMatch(event -> event.text().contains("replay-payload") || event.text().contains("stack"));
    assertThat(copied.stream().map(RecordedEvent::kind)).containsExactlyElementsOf(
        events.stream().map(RecordedEvent::kind).toList());
    assertThat(Recordings.all(salted)).isNotEqualTo(copied);
    assertThat(out(ExitCode.OK, "recording", "compare", recording, recording)).contains("equal in ");
    assertThat(exported(copy.toString(), "mooncake")).isEqualTo(exported(recording, "mooncake")).isEqualTo(hits);
    assertThat(refused(ExitCode.DATA, "recording", "anonymise", recording, own.resolve("x").toString(), "--salt-file",
        Files.writeString(own.resolve("short"), "short").toString())).contains("at least 16 bytes of salt");
  }

  @Test
  void wordsThatTell_areReplacedEqually() {
    Anonymiser anonymiser = new Anonymiser(Salt.of(null));
    RecordedEvent failed =
        text(Kind.FAILED, "Refused: /var/lib/tenant-a at 10.1.2.3:7420 for \"alice\", bob@corp.example");
    String replaced = anonymiser.apply(failed).text();

    assertThat(replaced).startsWith("Refused: /path-").doesNotContain("tenant-a", "10.1.2.3", "alice", "bob", "corp");
    assertThat(anonymiser.apply(failed).text()).isEqualTo(replaced);
    assertThat(anonymiser.apply(text(Kind.LINK, "rank-7.prefill.internal")).text()).doesNotContain("rank", "internal");
    RecordedEvent began =
        RecordedEvent.began(1_700_000_000_000L, "", "{\"dram\":\"2GiB\",\"users\":{\"alice smith\":1},"
            + "\"ssd\":{\"dir\":\"/data/alice\"}}");
    RecordedEvent plain = anonymiser.apply(began);
    assertThat(plain.text()).contains("\"dram\":\"2GiB\"", "\"java\"").doesNotContain("alice", "/data");
    assertThat(plain.number(0)).isZero();
  }

  private static RecordedEvent text(Kind kind, String text) {
    return new RecordedEvent(kind, false, 0, 0, 3, new long[0], List.of(), text);
  }

  @Test
  void exportedRequests_haveEqualHits() {
    assertThat(exported(recording, "aiperf")).isEqualTo(hits);
    assertThat(refused(ExitCode.USAGE, "recording", "export-trace", recording, own.resolve("t").toString(), "--form",
        "zip")).contains("--form must be mooncake or aiperf");
    assertThat(refused(ExitCode.DATA, "recording", "export-trace", recording, own.resolve("t").toString(), "--tier",
        "7")).contains("must have requests of tier 7");
  }

  /// Hits of a replay of the requests, which the recorded tier had, too.
  private long exported(String from, String form) {
    Path trace = own.resolve(form + Path.of(from).getFileName() + ".jsonl.gz");
    JsonNode report = json(ExitCode.OK, "recording", "export-trace", from, trace.toString(), "--form", form, "--json");
    assertThat(report.get("hits").asLong()).isEqualTo(hits);
    return json(ExitCode.OK, replay(trace.toString(), "--policy", "lru")).get("hits").asLong();
  }

  @Test
  void compare_namesTheFirstDifference() {
    int left = firstMoved();
    List<RecordedEvent> changed = new ArrayList<>(events);
    changed.remove(left);
    Path other = write("changed", changed);
    JsonNode difference = json(ExitCode.FOUND_FAILURE, "recording", "compare", recording, other.toString(), "--json");

    assertThat(difference.get("decision").get("a").get("number").asInt()).isEqualTo(left);
    assertThat(difference.get("flow").isNull()).isTrue();
    assertThat(out(ExitCode.FOUND_FAILURE, "recording", "compare", recording, other.toString())).contains("differ");
  }

  private static int firstMoved() {
    for (int i = events.size() / 2; i < events.size(); i++) {
      if (events.get(i).kind() == Kind.MOVED) {
        return i;
      }
    }
    throw new AssertionError("recording must have a move");
  }

  private Path write(String name, List<RecordedEvent> all) {
    Path file = own.resolve(name);
    RecordingFile.write(file, all.iterator());
    return file;
  }

  @Test
  void bisect_findsTheEvent() throws IOException {
    int left = firstMoved();
    List<RecordedEvent> changed = new ArrayList<>(events);
    changed.remove(left);
    String other = write("changed", changed).toString();
    JsonNode differs = json(ExitCode.OK, "recording", "bisect", other, "--with", "equal", "--json");
    assertThat(differs.get("event").asInt()).isEqualTo(left);

    String command = "sh " + Files.writeString(own.resolve("ask.sh"), "! grep -q '\"kind\":\"evicted\"' \"$1\"\n");
    JsonNode first = json(ExitCode.OK, "recording", "bisect", evictedInTheLastTurn(), "--with", command, "--json");
    assertThat(first.get("plays").asLong()).isLessThanOrEqualTo(
        (long) (Math.log(events.size()) / Math.log(2)) + 3);
    assertThat(first.get("context").toString()).contains("\"kind\":\"evicted\"");
    assertThat(out(ExitCode.FOUND_FAILURE, "recording", "bisect", recording, "--with", "wake-up")).contains("holds");
    assertThat(out(ExitCode.FOUND_FAILURE, "recording", "bisect", recording, "--with", "places")).contains("holds");
    assertThat(refused(ExitCode.USAGE, "recording", "bisect", recording, "--with", "sanity"))
        .contains("--with must be one of equal, places, capacity, wake-up, demand");
    assertThat(refused(ExitCode.DATA, "recording", "bisect", recording, "--with", "no-such-program here"))
        .contains("ended with 127");
  }

  /// A recording that ends with the first turn that evicts: the state tells the events of the last turn only.
  private String evictedInTheLastTurn() {
    int evicted = 0;
    while (events.get(evicted).kind() != Kind.EVICTED) {
      evicted++;
    }
    int end = evicted;
    while (!events.get(end).begins()) {
      end++;
    }
    return write("evicts", events.subList(0, end)).toString();
  }

  @Test
  void waterfall_showsARequest() throws IOException {
    Path svg = own.resolve("request.svg");
    Path html = own.resolve("request.html");
    JsonNode waterfall = json(ExitCode.OK, "recording", "waterfall", recording, "--request", "15", "--svg",
        svg.toString(), "--html", html.toString(), "--json");

    long all = 0;
    for (JsonNode wait : waterfall.get("waits")) {
      all += wait.asLong();
    }
    assertThat(all).isEqualTo(waterfall.get("nanos").asLong()).isPositive();
    assertThat(waterfall.get("bars").toString()).contains("\"lease\"", "\"window\"", "\"slices\"");
    assertThat(Files.readString(svg, StandardCharsets.UTF_8)).startsWith("<svg ").contains("<rect class=\"slices\"");
    assertThat(Files.readString(html, StandardCharsets.UTF_8)).contains("<svg ", "What it waited for")
        .doesNotContain("<script");
    String flow = waterfall.get("flow").asString();
    assertThat(out(ExitCode.OK, "recording", "waterfall", recording, "--flow", flow)).contains("request 15, flow ");
    assertThat(refused(ExitCode.USAGE, "recording", "waterfall", recording, "--request", "20")).contains("names none");
  }

  @Test
  void badInput_isRefusedByName() throws IOException {
    String none = Files.createDirectory(own.resolve("none")).toString();
    assertThat(refused(ExitCode.DATA, "recording", "info", none)).contains("must be a recording, as --record makes it");
    assertThat(refused(ExitCode.INPUT_OUTPUT, "recording", "dump", own.resolve("absent").toString()))
        .contains("absent");
    Path damaged = write("damaged", events);
    byte[] bytes = Files.readAllBytes(damaged);
    bytes[bytes.length / 2] ^= 0x55;
    Files.write(damaged, bytes);
    assertThat(refused(ExitCode.DATA, "recording", "info", damaged.toString())).contains("cannot be read");
    String empty = write("empty", List.of()).toString();
    assertThat(out(ExitCode.FOUND_FAILURE, "recording", "info", empty)).contains("cannot be played: it has no events");
    assertThat(refused(ExitCode.DATA, "recording", "bisect", empty, "--with", "equal")).contains("must have events");
    List<RecordedEvent> late = new ArrayList<>(events.subList(100, events.size()));
    late.addFirst(RecordedEvent.gap(100));
    String gap = write("gap", late).toString();
    assertThat(out(ExitCode.FOUND_FAILURE, "recording", "info", gap)).contains("the first 100 events are missing");
    assertThat(refused(ExitCode.DATA, "recording", "cut", gap, none + "2", "--until", "7")).contains("its beginning");
    assertThat(refused(ExitCode.USAGE, "recording", "dump", recording, "--flow", "no-such")).contains("--flow must be");
    assertThat(refused(ExitCode.USAGE, "recording", "dump", recording, "--kind", "explosion")).contains("--kind must");
    assertThat(refused(ExitCode.USAGE, "recording", "dump", recording, "--key", "xyz")).contains("--key must");
  }
}
