package io.penstock.node.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.PrefixHasher;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Failures;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import io.penstock.recording.RecordedEvent;
import io.penstock.storage.recording.RecordingReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The client's commands, each run in this process against a node in this process, over loopback sockets.
@Timeout(60)
final class ClientCommandsTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int BLOCK = 4096;
  private static final Map<String, String> ENVIRONMENT =
      Map.of("PENSTOCK_BLOCK_BYTES", "4KiB", "PENSTOCK_WINDOW_BLOCKS", "8");

  @TempDir
  Path folder;
  private Node node;

  @BeforeEach
  void start() {
    Map<Setting<?>, String> flags = new HashMap<>();
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "off");
    flags.put(NodeSettings.DRAM, "100 blocks");
    node = Node.start(NodeConfig.resolve(null, ENVIRONMENT, flags)).block(SOON);
  }

  @AfterEach
  void stop() {
    node.close().block(SOON);
  }

  @Test
  void put_thenGet_givesTheFileBack() throws IOException {
    byte[] content = random(20 * BLOCK + 17);
    Path file = Files.write(folder.resolve("model.bin"), content);
    Path keys = folder.resolve("keys.txt");

    CommandLineRun put = run("put", file.toString());
    Files.writeString(keys, put.out());
    CommandLineRun get = run("get", "--keys-from", keys.toString(), "--bytes", "" + content.length);

    assertThat(put.exitCode()).as(put.err()).isZero();
    assertThat(put.out().lines()).hasSize(21).doesNotHaveDuplicates();
    assertThat(put.err()).matches("""
        21 blocks, 80.0 KiB: 21 stored \\(21 volatile\\), 0 there already, in frames over tcp; \
        3 puts, p50 [0-9.]+ ms, p99 [0-9.]+ ms
        4,079 zero bytes at the end fill the last block; get them out again with: penstock get --bytes 81937
        """);
    assertThat(get.exitCode()).as(get.err()).isZero();
    assertThat(get.outBytes()).isEqualTo(content);
    assertThat(get.err()).isEqualTo("21 blocks, 80.0 KiB, verified on arrival, in frames over tcp\n");
    CommandLineRun dash = run("get", "--keys-from", keys.toString(), "--bytes", "" + content.length, "-o", "-");
    assertThat(dash.outBytes()).as("standard output").isEqualTo(content);
    assertThat(dash.err()).isEqualTo(get.err());
  }

  @Test
  void put_sameBeginningTwice_storesTheDifferenceOnly() {
    byte[] first = random(4 * BLOCK);
    byte[] second = Arrays.copyOf(first, 5 * BLOCK);

    CommandLineRun one = runWith(first, "put");
    CommandLineRun two = runWith(second, "put", "-", "--json");

    assertThat(one.err()).isEqualTo("4 blocks, 16.0 KiB: 4 stored (4 volatile), 0 there already, in frames over tcp\n");
    assertThat(two.err()).isEqualTo("5 blocks, 20.0 KiB: 1 stored (1 volatile), 4 there already, in frames over tcp\n");
    List<String> keys = one.out().lines().toList();
    List<String> lines = two.out().lines().toList();
    assertThat(lines.get(0)).isEqualTo(
        "{\"key\":\"" + keys.get(0)
            + "\",\"stored\":false,\"present\":true,\"tier\":null,\"durability\":null,\"sequence\":null}");
    assertThat(lines.get(4))
        .endsWith("\"stored\":true,\"present\":false,\"tier\":\"dram\",\"durability\":\"volatile\",\"sequence\":5}");
  }

  @Test
  void put_sameKeyTwice_isMisuse() {
    byte[] twice = new byte[2 * BLOCK];

    CommandLineRun put = runWith(twice, "put", "--trace-id", "1,1");

    assertThat(put.exitCode()).as(put.err()).isEqualTo(2);
    assertThat(put.err()).contains("keys must be distinct");
  }

  @Test
  void put_generated_isVerifiedByGetAndSeenByMatch() throws IOException {
    assertThat(run("put", "--count", "30", "--seed", "100").exitCode()).isZero();

    CommandLineRun get = run("get", "--trace-id", "100-129", "--verify", "--discard", "--json");
    CommandLineRun match = run("match", "--trace-id", "100-104,7,105", "--json");

    assertThat(get.exitCode()).as(get.err()).isZero();
    assertThat(get.out()).matches("""
        \\{"blocks":30,"bytes":122880,"missing":\\[],"different":\\[],\
        "carried":\\{"transport":"tcp","bytes":\\{"inline":122880},\
        "times":\\{"get":\\{"count":1,"p50Millis":[0-9.]+,"p99Millis":[0-9.]+}}}}
        """);
    assertThat(match.out()).isEqualTo("{\"keys\":7,\"prefix\":5,\"present\":6}\n");
    assertThat(run("match", "--trace-id", "7,100").out()).isEqualTo("prefix 0 of 2, present 1\n");
  }

  @Test
  void get_bytesThatWereNotGenerated_isAMismatch() {
    String key = runWith(random(BLOCK), "put", "--trace-id", "5").out().strip();

    CommandLineRun get = run("get", "--trace-id", "5", "--verify", "--discard");

    assertThat(get.exitCode()).isEqualTo(1);
    assertThat(get.err()).startsWith("different " + key + "\n1 block, 4.00 KiB, verified on arrival");
  }

  @Test
  void aBadLineOfKeys_isNamedWithItsFile() throws IOException {
    run("put", "--count", "1");
    String key = run("put", "--count", "1").out();
    Path keys = Files.writeString(folder.resolve("keys.txt"), "\n" + key + "\nno key\n");
    CommandLineRun get = run("get", "--keys-from", keys.toString(), "--discard");
    assertThat(get.exitCode()).isEqualTo(2);
    assertThat(get.err()).startsWith("get: " + keys + ", line 4: ").contains("no key");
  }

  @Test
  void get_missingBlock_writesNothingAndNamesIt() {
    run("put", "--count", "2");
    Path file = folder.resolve("out.bin");

    CommandLineRun get = run("get", "--trace-id", "0-2", "--output", file.toString());

    assertThat(get.exitCode()).isEqualTo(1);
    assertThat(get.err()).startsWith("missing ").contains(PrefixHasher.ofTraceId(2).toString())
        .endsWith("\n1 of 3 blocks missing: nothing was read\n");
    assertThat(file).doesNotExist();
  }

  @Test
  void get_bytesToStandardOutput_cannotBeMixedWithJson() {
    CommandLineRun get = run("get", "--trace-id", "1", "--json");

    assertThat(get.exitCode()).isEqualTo(2);
    assertThat(get.err()).contains("--json must come with --output or --discard");
  }

  @Test
  void tokens_nameBlocksByTheirPrefix() {
    String keys = runWith(random(2 * BLOCK), "put", "--tokens", "1-32").out();

    assertThat(run("match", "--tokens", "1-40").out()).isEqualTo("prefix 2 of 2, present 2\n");
    assertThat(run("match", "--tokens", "2-33").out()).isEqualTo("prefix 0 of 2, present 0\n");
    assertThat(run("match", "--key", String.join(",", keys.lines().toList())).out())
        .isEqualTo("prefix 2 of 2, present 2\n");
  }

  @Test
  void leasedPrefix_isReadUnderItsLease_thoughOthersWerePut() throws IOException {
    run("put", "--count", "10");
    assertThat(run("match", "--trace-id", "0-9,50").out()).doesNotContain("lease");
    CommandLineRun match = run("match", "--trace-id", "0-9,50", "--lease=1m", "--json");
    JsonNode lease = JsonMapper.shared().readTree(match.out()).get("lease");
    assertThat(lease.get("blocks").asInt()).isEqualTo(10);
    assertThat(lease.get("millis").asLong()).isEqualTo(60_000);
    assertThat(run("match", "--trace-id", "0-1", "--lease").out()).startsWith("prefix 2 of 2, present 2\nlease ")
        .endsWith(" holds 2 blocks for 10s\n");
    assertThat(run("match", "--trace-id", "0-1", "--lease=1ms", "--prefetch").exitCode()).isZero();
    assertMisuse("--prefetch must come with --lease (was alone)", "match", "--trace-id", "0-1", "--prefetch");
    run("put", "--count", "100", "--seed", "1000");

    String id = lease.get("id").asString();
    CommandLineRun get = run("get", "--trace-id", "0-9", "--lease", id, "--verify", "--discard");
    assertThat(get.exitCode()).as(get.err()).isZero();
    assertThat(run("get", "--trace-id", "0-9", "--lease", "7", "--discard").err())
        .contains("lease must be live to be read (was 7, which has ended or never was)");
    assertThat(run("stat").out()).contains("\nread leases    2, 10 blocks of 75 that leases may hold\n");
  }

  @Test
  void pinnedBlocks_stay_untilTheyAreUnpinnedOrRemoved() throws IOException {
    run("put", "--count", "4");
    CommandLineRun pin = run("pin", "--trace-id", "0-3,9", "--hard", "--json");
    assertThat(pin.exitCode()).isEqualTo(1);
    JsonNode outcomes = JsonMapper.shared().readTree(pin.out());
    assertThat(outcomes.get("done").asInt()).isEqualTo(4);
    assertThat(outcomes.at("/others/0/code").asInt()).isEqualTo(-704);
    run("put", "--count", "2", "--seed", "20", "--soft=1h", "--group", "a turn");
    run("put", "--count", "150", "--seed", "1000");
    assertThat(run("match", "--trace-id", "0-3,20,21").out()).isEqualTo("prefix 6 of 6, present 6\n");
    assertThat(run("stat").out()).contains("\npinned         2 blocks softly, 4 hard, of 50\n");
    assertThat(run("pin", "--trace-id", "1090-1149", "--soft").err()).contains("pinned blocks must be <= 50 (was 66)");

    assertThat(run("unpin", "--trace-id", "0-1").out()).isEqualTo("2 of 2 blocks unpinned\n");
    assertMisuse("--soft or --hard must be given (was none)", "pin", "--trace-id", "1");
    assertMisuse("--soft must be left out with --hard (was given)", "pin", "--trace-id", "1", "--soft", "--hard");
  }

  @Test
  void remove_byKeysPatternAndAll() {
    run("put", "--count", "20");
    run("match", "--trace-id", "0-1", "--lease=1m");
    CommandLineRun keys = run("remove", "--trace-id", "1-2");
    assertThat(keys.exitCode()).isEqualTo(1);
    assertThat(keys.out()).isEqualTo("1 of 2 blocks removed\n");
    assertThat(keys.err()).startsWith("leased ");
    assertThat(run("remove", "--trace-id", "1", "--force").out()).isEqualTo("1 of 1 block removed\n");

    String hash = PrefixHasher.ofTraceId(5).toString();
    assertThat(run("remove", "--regex", "^" + hash.substring(0, 12)).out())
        .isEqualTo("1 block removed, 0 leased, 0 being written\n");
    assertThat(run("remove", "--all", "--json").out()).isEqualTo("{\"removed\":16,\"leased\":1,\"notReady\":0}\n");
    assertThat(run("remove", "--all", "--force").out()).startsWith("1 block removed");
    assertMisuse("remove: --regex must be a regular expression of RE2 (was (a)", "remove", "--regex", "(a");
    assertMisuse("match: --lease: life of a lease must be <= 600000 ms", "match", "--trace-id", "1", "--lease=99h");
    assertMisuse("blocks must be given by keys, --regex or --all alone (was 2)", "remove", "--all", "--trace-id", "1");
  }

  @Test
  void stat_showsWhatHappened() throws IOException {
    run("put", "--count", "3");
    run("get", "--trace-id", "0-3", "--discard");

    CommandLineRun table = run("stat");
    JsonNode json = JsonMapper.shared().readTree(run("stat", "--json").out());

    assertThat(table.out()).startsWith(
        "WHAT           VALUE\nnode           penstock\ntier           dram, host\nblocks         3 of 100\n")
        .contains("\nhits           3\nmisses         1\nhit rate       75.00 %\n");
    assertThat(json.at("/stat/stored").asInt()).isEqualTo(3);
    assertThat(json.get("budgetBytes").asLong()).isEqualTo(64L << 20);
    assertThat(json.get("draining").asBoolean()).isFalse();
  }

  @Test
  void events_fromASequenceUpToALimit_areLines() {
    List<String> keys = run("put", "--count", "4").out().lines().toList();

    CommandLineRun text = run("events", "--limit", "2");
    CommandLineRun json = run("events", "--from", "3", "--limit", "2", "--json");

    String level = "\",\"levels\":[{\"name\":\"dram\",\"medium\":\"host\"}]}\n";
    assertThat(text.out()).isEqualTo("1  stored  " + keys.get(0) + "  dram\n2  stored  " + keys.get(1) + "  dram\n");
    assertThat(json.out()).isEqualTo("{\"sequence\":3,\"type\":\"stored\",\"key\":\"" + keys.get(2) + level
        + "{\"sequence\":4,\"type\":\"stored\",\"key\":\"" + keys.get(3) + level);
  }

  @Test
  void events_withASnapshot_beginWithTheVisibleBlocks() {
    List<String> keys = run("put", "--count", "2").out().lines().toList();

    List<String> lines = run("events", "--snapshot", "--limit", "4").out().lines().toList();

    assertThat(lines.get(0)).isEqualTo("2  snapshot  ");
    assertThat(lines.subList(1, 3)).containsExactlyInAnyOrder("2  present  " + keys.get(0) + "  dram",
        "2  present  " + keys.get(1) + "  dram");
    assertThat(lines.get(3)).isEqualTo("2  snapshotEnd");
  }

  @Test
  void evictions_areSeenByEvents() {
    run("put", "--count", "101");

    assertThat(run("events", "--limit", "102").out().lines().filter(line -> line.contains("  evicted  "))).hasSize(1);
  }

  @Test
  void keys_thatMakeNoSense_areMisuse() throws IOException {
    String foreign = "00".repeat(16) + ":" + "00".repeat(16);

    assertMisuse("key must be SPACE:HASH in hex (was nonsense)", "match", "--key", "nonsense");
    assertMisuse("key must be of space ", "match", "--key", foreign);
    assertMisuse("keys must be given by exactly one of --key, --keys-from, --trace-id and --tokens (was 0)", "match");
    Path none = Files.writeString(folder.resolve("none.txt"), "\n");
    assertMisuse("--keys-from must have one key a line (was empty: " + none + ")", "get", "--keys-from",
        none.toString(), "--bytes", "7");
    assertMisuse("get: --bytes must be <= 8 KiB, all of 2 blocks (was 8193 B)\n", "get", "--trace-id", "1,2", "--bytes",
        "8193", "--discard");
    assertMisuse("keys must be given by exactly one of", "match", "--trace-id", "1", "--tokens", "1-16");
    assertMisuse("--trace-id must be numbers and ranges such as 1,5,10-20", "match", "--trace-id", "1,x");
    assertMisuse("--trace-id must be numbers and ranges such as 1,5,10-20", "match", "--trace-id", "5-1");
    assertMisuse("--tokens must be at least one block of 16 (was 3)", "match", "--tokens", "1-3");
    assertMisuse("keys must be as many as the input has blocks, 1 (was 2)", "put",
        Files.write(folder.resolve("one"), new byte[1]).toString(), "--trace-id", "1,2");
    assertMisuse("keys must be as many as the input has blocks, at least 2 (was 1)", "put",
        Files.write(folder.resolve("two"), new byte[2 * BLOCK]).toString(), "--trace-id", "1");
    assertMisuse("--count must be > 0 (was 0)\n", "put", "--count", "0");
    assertMisuse("put: --seed must be >= 0 (was -1)\n", "put", "--count", "1", "--seed", "-1");
    assertMisuse("put: --tokens must be left out with --count", "put", "--tokens", "1-32", "--count", "2");
    assertMisuse("put: FILE must be left out with --count (was model.bin)\n", "put", "model.bin", "--count", "2");
    assertMisuse("--from must be >= 1", "events", "--from", "0");
    assertMisuse("--connect must be HOST:PORT", "stat", "--connect", "nowhere");
  }

  @Test
  void space_thatDiffersFromTheNodes_isRefusedNamingTheField() {
    assertMisuse("match: --layers must be 8, as at the node at 127.0.0.1:" + node.port() + " (was 4)\n", "match",
        "--trace-id", "1", "--layers", "4");
    assertMisuse("stat: --layers must be 8, as at the node at ", "stat", "--layers", "4");
    assertMisuse(": --block-tokens must be 16, as at ", "match", "--trace-id", "1", "--block-tokens", "8");
    assertMisuse(": --model must be penstock-demo, as at ", "match", "--trace-id", "1", "--model", "another");
    assertMisuse(": --block-bytes must be 4 KiB, as at the node at 127.0.0.1:" + node.port() + " (was 64 KiB)\n",
        "match", "--trace-id", "1", "--block-bytes", "64KiB");
  }

  @Test
  void noNode_isUnavailable() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }

    CommandLineRun stat = CommandLineRun.of("stat", "--connect", "127.0.0.1:" + free);

    assertThat(stat.exitCode()).as(stat.err()).isEqualTo(69);
    assertThat(stat.err()).startsWith("stat: no node is listening at 127.0.0.1:" + free + " (Connection refused")
        .doesNotContain("error(", "lost");
    assertThat(stat.out()).isEmpty();
  }

  @Test
  void somethingElseThatListens_isUnavailable() throws IOException {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CommandLineRun stat =
          CommandLineRun.of("stat", "--timeout", "300ms", "--connect", "127.0.0.1:" + mute.getLocalPort());

      assertThat(stat.exitCode()).as(stat.err()).isEqualTo(69);
      assertThat(stat.err()).contains("must answer within --timeout");
    }
  }

  @Test
  void events_whenTheNodeEnds_saysThatTheConnectionEnded() throws Exception {
    int port = node.port();
    CountDownLatch following = new CountDownLatch(1);
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(InputStream.nullInputStream(), new PrintStream(OutputStream.nullOutputStream(), true, UTF_8) {
          @Override
          public void print(String line) {
            following.countDown();
          }
        }, new PrintStream(err, true, UTF_8), false, ENVIRONMENT);
    run("put", "--count", "1");
    FutureTask<Integer> task = new FutureTask<>(() -> {
      Failures failures = new Failures(console);
      CommandLine line =
          ClientCommands.line("events", console).setErr(new PrintWriter(console.err(), true, UTF_8));
      return line.setExecutionExceptionHandler(failures).execute("--connect", "127.0.0.1:" + port);
    });
    Thread.ofPlatform().daemon().start(task);
    assertThat(following.await(20, SECONDS)).isTrue();

    node.close().block(SOON);

    assertThat(task.get(20, SECONDS)).isEqualTo(69);
    assertThat(err.toString(UTF_8)).startsWith("events: the connection to the node at 127.0.0.1:" + port + " ended");
  }

  @Test
  void inputFileThatIsNotThere_isAnInputError() {
    CommandLineRun put = run("put", folder.resolve("nothing").toString());

    assertThat(put.exitCode()).isEqualTo(74);
    assertThat(put.err()).isEqualTo("put: " + folder.resolve("nothing") + " must exist (no such file)\n");
  }

  private void assertMisuse(String message, String... arguments) {
    CommandLineRun run = List.of(arguments).contains("--connect")
        ? CommandLineRun.with(ENVIRONMENT, new byte[0], arguments)
        : run(arguments);

    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    assertThat(run.err()).contains(message);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void record_keepsTheConnectionsAndFlowsOfACommand_withoutSecrets() throws IOException {
    Path recording = folder.resolve("recording");
    Path file = Files.write(folder.resolve("model.bin"), random(20 * BLOCK));

    CommandLineRun put = run("put", file.toString(), "--record", recording.toString(), "--record-full", "wait");
    CommandLineRun again = run("put", file.toString(), "--record", recording.toString());
    CommandLineRun alone = run("match", "--trace-id", "0-15", "--record-size", "1GiB");

    assertThat(put.exitCode()).as(put.err()).isZero();
    List<String> events = new ArrayList<>();
    List<String> flows = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(event -> {
        events.add(event.toString());
        if (event.kind() == RecordedEvent.Kind.FLOW) {
          flows.add(event.text());
        }
      });
    }
    assertThat(flows).contains("penstock.v1.put", "penstock.v1.put (asked)");
    assertThat(events.getFirst()).startsWith("began");
    assertThat(events.get(1)).startsWith("link").contains("127.0.0.1:" + node.port() + " from 127.0.0.1:");
    assertThat(events.getLast()).startsWith("link tier 0 [1, 1, 0]");
    assertThat(again.exitCode()).as("a folder that has a recording").isNotZero();
    assertThat(again.err()).contains("recording");
    assertThat(alone.exitCode()).isEqualTo(2);
    assertThat(alone.err()).contains("--record-size must be left out without --record (was 1GiB)");
  }

  @Test
  void recordLast_isWrittenWhenTheCommandFails() throws IOException {
    Path last = folder.resolve("last");
    String[] kept = {"--record-last", "60s", "--record-last-dir", last.toString()};

    CommandLineRun good = run("stat", kept[0], kept[1], kept[2], kept[3]);
    assertThat(good.exitCode()).as(good.err()).isZero();
    assertThat(last).isEmptyDirectory();
    runWith(random(BLOCK), "put", "--trace-id", "905");
    CommandLineRun failed =
        run("get", "--trace-id", "905", "--verify", "--discard", kept[0], kept[1], kept[2], kept[3]);

    assertThat(failed.exitCode()).as(failed.err()).isEqualTo(1);
    try (Stream<Path> saved = Files.list(last)) {
      List<Path> all = saved.toList();
      assertThat(all).hasSize(1);
      assertThat(RecordingReader.isRecording(all.getFirst())).isTrue();
    }
  }

  private CommandLineRun run(String... arguments) {
    return runWith(new byte[0], arguments);
  }

  private CommandLineRun runWith(byte[] in, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--connect", "127.0.0.1:" + node.port()));
    return CommandLineRun.with(ENVIRONMENT, in, all.toArray(String[]::new));
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(20261120L + length).nextBytes(bytes);
    return bytes;
  }

}
