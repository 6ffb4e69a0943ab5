package io.penstock.node.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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
    String row = "{\"model\":\"llama-3.1-8b\",\"blockTokens\":512,\"policy\":\"lru\",\"capacity\":%d,"
        + "\"capacityBytes\":%d,\"blockRefs\":8,\"hits\":3,\"hitRate\":0.375,\"prefixHits\":2,\"prefixHitRate\":0.25,"
        + "\"tokensReused\":1024,\"prefillSecondsSaved\":0.102,"
        + "\"ceilingHitRate\":0.375,\"ceilingBlocks\":5,\"kneeBlocks\":3}";
    assertThat(run.out())
        .isEqualTo("[" + row.formatted(3, 3L << 26) + "," + row.formatted(1_000, 1_000L << 26) + "]\n");
  }

  @Test
  void capacities_areSizesOfTheModelToo() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(trace, request(0, 1, 2, 3) + request(1, 1, 2, 4) + request(2, 9, 2));

    CommandLineRun run = CommandLineRun.of("sweep", trace.toString(), "--model", "llama-3.1-70b", "--policies", "lru",
        "--capacities", "500MiB,1k", "--prefill-rate", "512", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode results = JsonMapper.shared().readTree(run.out());
    assertThat(results).extracting(result -> result.get("capacity").intValue()).containsExactly(3, 1_000);
    assertThat(results).extracting(result -> result.get("capacityBytes").longValue()).containsExactly((3L * 160) << 20,
        (1_000L * 160) << 20);
    assertThat(results).extracting(result -> result.get("prefillSecondsSaved").doubleValue()).containsOnly(2.0);
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
    assertThat(run.out().lines()).allMatch(text -> text.length() <= 80);
    assertThat(run.out().replace('\n', ' ')).contains("2 requests, 6 references to 3 blocks, 3,072 tokens of prompts.",
        "Model: llama-3.1-8b, 128 KiB a token, 2 MiB a block of 16 tokens.",
        "at 10,000 tokens/s, of 0.31 s for all prompts.");
    assertThat(run.out()).contains("""
        POLICY        BLOCKS      SIZE  HITS     RATE   PREFIX  TOKENS  PREFILL
        """, """
        lru                2  4.00 MiB     0   0.00 %   0.00 %       0   0.00 s
        """, """
        s3_fifo            3  6.00 MiB     3  50.00 %  50.00 %      48   0.01 s
        """, """
        (ceiling)          3  6.00 MiB     3  50.00 %  50.00 %      48   0.01 s
        """);
    assertThat(run.err()).contains("prompts of 3,072 tokens in 6 blocks are about 512 tokens a block, not 16: "
        + "--block-tokens states them\n");
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
        "\"Prefill saved\"", "\"points\":\"blocks\"", "s3_fifo", "\"blockBytes\":67108864", "1 = 64.0 MiB", "ceiling");
    assertThat(JsonMapper.shared().readTree(document.toFile())).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--policies random | --policies must be one of lru, lfu, fifo, s3_fifo, w_tinylfu, arc, length_aware, "
        + "cost_aware, reuse_aware, adaptive, sessions (was random)",
    "--policies lru,lru | --policies must be distinct (was lru,lru)",
    "--workloads chess | --workloads must be one of conversation, agents, scans, drift, mixture, phases (was chess)",
    "--workloads all --requests 0 | --requests must be > 0 (was 0)",
    "--capacities 1,0 | --capacities must be numbers of blocks > 0, such as 1000 or 30k, or sizes, such as 64GiB "
        + "(was 0)",
    "--capacities 5x | --capacities must be numbers of blocks > 0, such as 1000 or 30k, or sizes, such as 64GiB "
        + "(was 5x)",
    "--capacities 1k,,5k | --capacities must have a value between commas (part 2 of 1k,,5k is empty)",
    "--capacities 1,64MiB | --capacities must be distinct (was 1,64MiB)",
    "--capacities 1MiB | --capacities must be >= one block of 64 MiB (was 1 MiB)",
    "--prefill-rate -1 | --prefill-rate must be > 0 tokens a second (was -1)",
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
        heads -> assertThat(heads).endsWith("LRU  REUSE_AWARE  ADAPTIVE  TO BETTER"));
    assertThat(run.out().lines().skip(1)).allSatisfy(row -> assertThat(row).endsWith(" %"));
  }

  @Test
  void policiesThatAreTooManyForALine_haveARowEach() {
    CommandLineRun run = CommandLineRun.of("sweep", "--workloads", "drift", "--requests", "20", "--capacities", "50");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out().lines()).hasSize(12).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
    assertThat(run.out()).containsPattern("drift +50 +[0-9,]+ +adaptive +[0-9,]+ +[-+][0-9.]+ %");
  }

  /// Ten blocks four times each, then 90 blocks once: all hits need 10 blocks, whatever capacities are asked for.
  @Test
  void knee_isThatOfTheExactCurve_inSweepAndWhatif() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Integer[] ten = IntStream.range(1, 11).boxed().toArray(Integer[]::new);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      text.append(request(i, ten));
    }
    Files.writeString(trace, text + request(5, IntStream.range(100, 190).boxed().toArray(Integer[]::new)));

    for (String capacities : List.of("1", "50,100")) {
      CommandLineRun sweep =
          CommandLineRun.of("sweep", trace.toString(), "--policies", "lru", "--capacities", capacities);
      assertThat(sweep.out()).contains("Knee of LRU: 10 blocks = 640 MiB, hits 23.1 %, saves ");
    }
    assertThat(CommandLineRun.of("whatif", trace.toString()).out().replaceAll("\\s+", " "))
        .contains("Knee of LRU: 10 blocks = 640 MiB, hits 23.1 %, saves ");
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
      assertThat(result.get("ceilingHitRate").asDouble()).as("36.6 %%").isEqualTo(1 - 182_790.0 / 288_500,
          within(1e-9));
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
