package io.penstock.node.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
final class SweepCommandTest {
  private static final Path CONVERSATIONS = Path.of("../../../shared/traces/conversation_trace.jsonl");

  /// Hits at 1k, 5k, 10k, 30k, 50k and 100k blocks: LRU, FIFO and LFU as an independent simulation counted them.
  private static final Map<String, List<Integer>> EXPECTED = Map.of(
      "lru", List.of(12_831, 31_840, 60_921, 93_967, 102_290, 104_924),
      "fifo", List.of(12_559, 30_780, 53_812, 87_152, 98_096, 103_651),
      "lfu", List.of(13_871, 26_626, 38_013, 79_595, 99_189, 104_755));

  @TempDir
  Path folder;

  @Test
  void smallTrace_isCountedBlockByBlockAndByPrefix() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, request(0, 1, 2, 3) + request(1, 1, 2, 4) + request(2, 9, 2));

    CommandLineRun run = CommandLineRun.of("sweep", trace.toString(), "--policies", "lru", "--capacities", "3,1k",
        "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo(
        "[{\"policy\":\"lru\",\"capacity\":3,\"blockRefs\":8,\"hits\":3,\"hitRate\":0.375,\"prefixHits\":2,"
            + "\"prefixHitRate\":0.25},{\"policy\":\"lru\",\"capacity\":1000,\"blockRefs\":8,\"hits\":3,"
            + "\"hitRate\":0.375,\"prefixHits\":2,\"prefixHitRate\":0.25}]\n");
  }

  @Test
  void qwenBailianForm_packed_givesATableOfAllPolicies() throws IOException {
    Path trace = folder.resolve("t.jsonl.gz");
    String line = request(0, 1, 2, 3).replace("{", "{\"chat_id\": 1, \"turn\": 1, ").replace("\"timestamp\": 0",
        "\"timestamp\": 0.25");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(trace))) {
      out.write((line + line).getBytes(StandardCharsets.UTF_8));
    }

    CommandLineRun run = CommandLineRun.of("sweep", trace.toString(), "--capacities", "2,3");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out().lines().toList()).hasSize(1 + EvictionPolicy.values().length * 2)
        .first().isEqualTo("POLICY        CAPACITY  HITS  HIT RATE  PREFIX HITS  PREFIX HIT RATE");
    assertThat(run.out()).contains("lru                  2     0    0.00 %            0           0.00 %\n",
        "s3_fifo              3     3   50.00 %            3          50.00 %\n");
  }

  @Test
  void report_isAPageWithBothCharts_orJson() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, request(0, 1, 2, 3));
    Path page = folder.resolve("sweep.html");
    Path document = folder.resolve("sweep.json");

    CommandLineRun run = CommandLineRun.of("sweep", trace.toString(), "--policies", "lru,S3-FIFO", "--capacities",
        "1,2", "--report", page.toString(), "--report", document.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(Files.readString(page)).contains("Eviction policies on ", "\"Hit rate\"", "\"Prefix hit rate\"",
        "\"points\":\"blocks\"", "s3_fifo");
    assertThat(JsonMapper.shared().readTree(document.toFile())).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--policies random | --policies must be one of lru, lfu, fifo, s3_fifo, w_tinylfu, arc, length_aware, "
        + "cost_aware, reuse_aware, adaptive (was random)",
    "--policies lru,lru | --policies must be distinct (was lru,lru)",
    "--capacities 1,0 | --capacities must be numbers of blocks > 0, such as 1000 or 30k (was 0)",
    "--workloads chess | --workloads must be one of conversation, agents, scans, drift, mixture, phases (was chess)",
    "--workloads all --requests 0 | --requests must be > 0 (was 0)",
    "--capacities 5x | --capacities must be numbers of blocks > 0, such as 1000 or 30k (was 5x)",
  })
  void misuse_isNamed(String arguments, String said) throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, request(0, 1));
    List<String> line = new ArrayList<>(List.of("sweep", trace.toString()));
    line.addAll(List.of(arguments.split(" ")));

    CommandLineRun run = CommandLineRun.of(line.toArray(String[]::new));

    assertThat(run.err()).isEqualTo("sweep: " + said + "\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void workloads_giveOneTable_withTheTraceAsOneMoreRow() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, request(0, 1, 2, 3) + request(1, 1, 2, 4));

    CommandLineRun run = CommandLineRun.of("sweep", trace.toString(), "--workloads", "agents,drift", "--requests",
        "20", "--capacities", "50,100", "--policies", "lru,reuse_aware,adaptive");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out().lines().map(line -> line.split(" +")[0])).containsExactly("TRACE", "agents", "agents",
        "drift", "drift", "t.jsonl", "t.jsonl");
    assertThat(run.out().lines().findFirst()).hasValueSatisfying(
        heads -> assertThat(heads).endsWith("LRU  REUSE_AWARE  ADAPTIVE  ADAPTIVE TO BETTER"));
    assertThat(run.out().lines().skip(1)).allSatisfy(row -> assertThat(row).endsWith(" %"));
  }

  @Test
  void neitherTraceNorWorkloads_isRefused() {
    CommandLineRun run = CommandLineRun.of("sweep");

    assertThat(run.err()).isEqualTo("sweep: TRACE or --workloads must be given (was neither)\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void brokenTrace_isADataError() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, "{}\n");

    assertThat(CommandLineRun.of("sweep", trace.toString()).exitCode()).isEqualTo(65);
  }

  @Test
  void conversationTrace_hitsAsASimulationCounted() {
    compare("lru,fifo,lfu,reuse_aware", "1k");
  }

  @Tag("proof")
  @Test
  void conversationTrace_atEveryCapacity_hitsAsASimulationCounted_andReuseAwareBeatsLru() {
    compare("lru,fifo,lfu,reuse_aware", "1k,5k,10k,30k,50k,100k");
  }

  private static void compare(String policies, String capacities) {
    assumeTrue(Files.isReadable(CONVERSATIONS), CONVERSATIONS + " is absent");

    CommandLineRun run = CommandLineRun.of("sweep", CONVERSATIONS.toString(), "--policies", policies, "--capacities",
        capacities, "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode results = JsonMapper.shared().readTree(run.out());
    int count = capacities.split(",").length;
    assertThat(results).hasSize(policies.split(",").length * count);
    for (int i = 0; i < results.size(); i++) {
      JsonNode result = results.get(i);
      List<Integer> expected = EXPECTED.get(result.get("policy").asString());
      assertThat(result.get("blockRefs").asLong()).isEqualTo(288_500);
      if (expected == null) {
        assertThat(result.get("hits").asInt()).as("%s", result).isGreaterThan(EXPECTED.get("lru").get(i % count));
      } else {
        assertThat(result.get("hits").asInt()).as("%s", result).isEqualTo(expected.get(i % count));
      }
    }
  }

  private static String request(int timestamp, Integer... ids) {
    return "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": %s}\n".formatted(timestamp,
        512 * ids.length, List.of(ids));
  }
}
