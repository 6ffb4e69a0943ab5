package io.penstock.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.node.replay.LruModel;
import io.penstock.node.trace.TraceReader;
import io.penstock.node.trace.TraceRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock replay` as a person or a program uses it.
@Timeout(120)
final class ReplayCommandTest {
  private static final JsonMapper JSON = JsonMapper.shared();

  @Test
  void limit_ofThreeHundred_handlesExactlySoManyAndReportsTwice(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("report.json");

    CommandLineRun run =
        CommandLineRun.of("replay", "--limit", "300", "--block-bytes", "2KiB", "--layers", "4", "--dram", "500 blocks",
            "--json", "--report", file.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JSON.readTree(run.out());
    assertThat(report.get("requests").longValue()).isEqualTo(300);
    assertThat(report.get("bytesDelivered").longValue()).isEqualTo(report.get("blockRefs").longValue() * 2048);
    assertThat(report.get("bytesVerified")).isEqualTo(report.get("bytesDelivered"));
    assertThat(report.get("leakedBlocks").longValue()).isZero();
    assertThat(run.out()).as("one line").isEqualTo(report + "\n");
    assertThat(JSON.readTree(Files.readString(file))).isEqualTo(report);
  }

  @Test
  void aTraceFile_isReplayed(@TempDir Path folder) {
    Path trace = folder.resolve("trace.jsonl.gz");
    assertThat(CommandLineRun.of("trace", "generate", "--requests", "20", "--out", trace.toString()).exitCode())
        .isZero();

    CommandLineRun run = CommandLineRun.of("replay", trace.toString(), "--block-bytes", "2KiB", "--layers", "4",
        "--concurrency", "4", "--ceilings");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("requests          20\n", "every byte, compared with the bytes generated",
        "leaked blocks     0\n", "GB/s memory copy", "GB/s byte generation", "GB/s raw Netty over loopback");
  }

  @Test
  void reportPage_ofTheGeneratedTrace_holdsTheDataOfEveryChart(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("<script>alert(1).html");

    CommandLineRun run =
        CommandLineRun.of("replay", "--limit", "100", "--block-bytes", "2KiB", "--layers", "4", "--dram", "500 blocks",
            "--json", "--report", file.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.err()).contains("report in " + file);
    String page = Files.readString(file);
    assertThat(page).doesNotContain("<script>alert(1)").contains("&lt;script&gt;alert(1)",
        "--dram &quot;500 blocks&quot;");
    JsonNode data = JSON.readTree(
        page.substring(page.indexOf("id=\"run\">") + 9, page.indexOf("</script>", page.indexOf("id=\"run\">"))));
    JsonNode report = JSON.readTree(run.out());
    assertThat(data.get("report")).isEqualTo(report);
    JsonNode series = data.get("series");
    int intervals = series.get("seconds").size();
    assertThat(intervals).isPositive();
    for (String chart : List.of("/hitsByTier/dram", "/misses", "/bytesDelivered", "/inFlightBytes",
        "/blocksByTier/dram", "/requests",
        "/firstLayerMicros/p50", "/firstLayerMicros/p90", "/firstLayerMicros/p99")) {
      assertThat(series.at(chart).size()).as(chart).isEqualTo(intervals);
    }
    assertThat(sum(series.at("/requests"))).isEqualTo(100);
    assertThat(sum(series.at("/hitsByTier/dram"))).isEqualTo(report.at("/hitsByTier/dram").longValue())
        .isEqualTo(report.get("hits").longValue());
    assertThat(sum(series.at("/hitsByTier/dram")) + sum(series.get("misses")))
        .isEqualTo(report.get("blockRefs").longValue());
    assertThat(sum(series.get("bytesDelivered"))).isEqualTo(report.get("bytesDelivered").longValue());
    assertThat(series.get("budgetBytes")).isEqualTo(report.get("budgetBytes"));
    assertThat(series.at("/capacityBlocksByTier/dram").longValue()).isEqualTo(500);
    assertThat(series.at("/blocksByTier/dram").get(intervals - 1)).isEqualTo(report.at("/fillByTier/dram/blocks"));
    assertThat(report.at("/firstLayerMicros/p50").longValue()).isPositive()
        .isLessThanOrEqualTo(report.at("/firstLayerMicros/p99").longValue());
  }

  @Test
  void capacities_areOfTheModel_andAreThoseOfTheTextbook(@TempDir Path folder) throws IOException {
    Path trace = folder.resolve("trace.jsonl");
    CommandLineRun.of("trace", "generate", "--requests", "60", "--seed", "3", "--out", trace.toString());

    JsonNode report = replayed(trace, "--model", "llama-3.1-8b", "--dram", "4GiB");

    assertThat(report.at("/capacities/dram").asString()).isEqualTo("64 blocks = 4.00 GiB");
    assertThat(report.at("/fillByTier/dram/capacityBlocks").longValue()).isEqualTo(64);
    assertThat(report.at("/model/capacityBytesByTier/dram").longValue()).isEqualTo(4L << 30);
    assertThat(report.at("/model/blockTokens").intValue()).isEqualTo(512);
    assertThat(report.at("/model/scale").doubleValue()).isEqualTo(1024);
    assertThat(report.get("blockBytes").intValue()).as("payload").isEqualTo(64 << 10);
    Outcome textbook = textbook(trace, 64);
    assertThat(report.get("hits").longValue()).isPositive().isEqualTo(textbook.hits);
    assertThat(report.at("/reuse/tokensReused").longValue()).isPositive().isEqualTo(textbook.tokensReused);
    assertThat(report.at("/reuse/prefillSecondsSaved").doubleValue()).isEqualTo(textbook.tokensReused / 1e4,
        within(1e-3));
    assertThat(report.at("/policyAlone/hits").longValue()).isEqualTo(textbook.hits);
    assertThat(report.at("/policyAlone/capacityBlocks").longValue()).isEqualTo(64);
    Outcome unbounded = textbook(trace, Long.MAX_VALUE);
    assertThat(report.at("/reuse/ceiling/hits").longValue()).isEqualTo(unbounded.hits);
    assertThat(report.at("/reuse/ceiling/tokensReused").longValue()).isEqualTo(unbounded.tokensReused);
  }

  @Test
  void hits_doNotDependOnThePayload(@TempDir Path folder) throws IOException {
    Path trace = folder.resolve("trace.jsonl");
    CommandLineRun.of("trace", "generate", "--requests", "40", "--seed", "5", "--out", trace.toString());
    String dimensions = "--layers 2 --kv-heads 1 --head-dim 8 --dtype fp8_e4m3 --dram 1MiB";

    List<JsonNode> reports = new ArrayList<>();
    for (String scale : List.of("1", "4", "500")) {
      reports.add(replayed(trace, (dimensions + " --scale " + scale).split(" ")));
    }
    reports.add(replayed(trace, dimensions.split(" ")));

    assertThat(reports).extracting(report -> report.get("blockBytes").intValue()).containsExactly(16 << 10, 4 << 10,
        32, 16 << 10);
    assertThat(reports).extracting(report -> report.at("/model/scale").doubleValue()).containsExactly(1.0, 4.0, 512.0,
        1.0);
    assertThat(reports).extracting(report -> report.at("/capacities/dram").asString())
        .containsOnly("64 blocks = 1.00 MiB");
    long hits = textbook(trace, 64).hits;
    assertThat(reports).extracting(report -> report.get("hits").longValue()).containsOnly(hits);
    assertThat(reports).extracting(report -> report.get("reuse")).containsOnly(reports.getFirst().get("reuse"));
  }

  @Test
  void qwenBailianForm_hasBlocksOfSixteenTokens_unlessTheyAreStated(@TempDir Path folder) throws IOException {
    Path trace = Files.writeString(folder.resolve("t.jsonl"), ("{\"chat_id\": 1, \"timestamp\": 0.5, "
        + "\"input_length\": 40, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}\n").repeat(2));

    JsonNode report = replayed(trace, "--dram", "8MiB");

    assertThat(report.at("/model/blockTokens").intValue()).isEqualTo(16);
    assertThat(report.at("/capacities/dram").asString()).isEqualTo("4 blocks = 8.00 MiB");
    assertThat(report.at("/reuse/tokensReused").longValue()).as("the last block has 8 tokens").isEqualTo(40);
    assertThat(report.at("/reuse").has("doubt")).isFalse();
    JsonNode stated = replayed(trace, "--dram", "8MiB", "--block-tokens", "64");
    assertThat(stated.at("/capacities/dram").asString()).isEqualTo("1 block = 8.00 MiB");
    assertThat(stated.at("/reuse/doubt").asString())
        .isEqualTo("prompts of 80 tokens in 6 blocks are about 13 tokens a block, not 64: --block-tokens states them");
  }

  private static JsonNode replayed(Path trace, String... options) {
    List<String> line = new ArrayList<>(List.of("replay", trace.toString(), "--json"));
    line.addAll(List.of(options));
    CommandLineRun run = CommandLineRun.of(line.toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
    return JSON.readTree(run.out());
  }

  private record Outcome(long hits, long tokensReused) {}

  /// Result of a textbook LRU of so many blocks of 512 tokens.
  private static Outcome textbook(Path trace, long capacityBlocks) {
    LruModel model = new LruModel(capacityBlocks);
    long hits = 0;
    long tokens = 0;
    try (TraceReader reader = TraceReader.open(trace)) {
      for (TraceRequest request = reader.next(); request != null; request = reader.next()) {
        LruModel.Outcome outcome = model.request(request.hashIds());
        hits += outcome.hits();
        tokens += Math.min(request.inputTokens(), 512L * outcome.prefixHits());
      }
    }
    return new Outcome(hits, tokens);
  }

  @Test
  void report_thatCannotBeWritten_isRefusedBeforeTheRun(@TempDir Path folder) {
    CommandLineRun run = CommandLineRun.of("replay", "--report", folder.resolve("none/report.html").toString());

    assertThat(run.exitCode()).isEqualTo(74);
    assertThat(run.err())
        .contains("--report must be a file that can be written: " + folder.resolve("none/report.html"))
        .doesNotContain("requests");
    assertThat(run.out()).isEmpty();
  }

  private static long sum(JsonNode values) {
    long sum = 0;
    for (JsonNode value : values) {
      sum += value.longValue();
    }
    return sum;
  }

  @Test
  void aBadLine_endsWithItsPlace(@TempDir Path folder) throws IOException {
    Path trace = Files.writeString(folder.resolve("t.jsonl"),
        "{\"timestamp\": 0, \"input_length\": -7, \"output_length\": 0, \"hash_ids\": []}\n");

    CommandLineRun run = CommandLineRun.of("replay", trace.toString(), "--block-bytes", "2KiB", "--layers", "4");

    assertThat(run.exitCode()).isEqualTo(65);
    assertThat(run.err()).contains("t.jsonl, line 1: input_length must be a whole number >= 0 (was -7)");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--hbm unbounded | --hbm must be a size, \"N blocks\", or 0 for off (was unbounded)",
    "--hbm-device ascend | --hbm-device must be left out without --hbm (was ascend)",
    "--hbm-device sim --hbm 0 | --hbm-device must be left out without --hbm (was sim)",
    "--hbm 1GiB --hbm-device gpu | --hbm-device must be one of sim, ascend (was gpu)",
    "--hbm 1GiB --ascend-lib x.so | --ascend-lib must be left out without --hbm-device ascend (was x.so)",
    "--hbm 1GiB --ascend-device 3 | --ascend-device must be left out without --hbm-device ascend (was 3)",
    "--hbm 1GiB --hbm-device ascend --ascend-device -3 | ascend.device must be an integer from 0 to 1023 (was -3",
    "--connect 127.0.0.1:1 --hbm-device sim | --hbm-device must be left out with --connect",
    "--dram much | --dram must be a size, \"N blocks\", unbounded, or 0 for off (was much)",
    "--ssd 1KiB | --ssd must be >= one block of 64 MiB (was 1 KiB)",
    "--ssd 1GiB --stack-mode write_through --dram 2GiB | ssd must be > dram, which it repeats when blocks are "
        + "written through (was 16 blocks and 32 blocks)",
    "--model llama-3.1-70b --ssd 1MiB | --ssd must be >= one block of 160 MiB (was 1 MiB)",
    "--prefill-rate 0 | --prefill-rate must be > 0 tokens a second (was 0)",
    "--scale 0 | --scale must be in [1, 2097152], for a block of 64 MiB (was 0)",
    "--connect 127.0.0.1:1 --scale 2 | --scale must be left out with --connect, for blocks of that node are what",
    "--model llama-3.1-8b --block-bytes 64KiB | --block-bytes must be auto with model llama-3.1-8b",
    "--ssd 1GiB --write-through --stack-mode exclusive | --write-through must be left out with --stack-mode, which "
        + "means the same (was set)",
    "--ssd-engine plain | --ssd-engine must be left out without --ssd (was plain)",
    "--engine plain | --engine must be left out without --ssd (was plain)",
    "--ssd-dir . | --ssd-dir must be left out without --ssd (was .)",
    "--write-through | --write-through must be left out without --ssd (was set)",
    "--ssd 1GiB --engine rocks | --engine must be one of chronicle, plain (was rocks)",
    "--ssd 1GiB --ssd-dir . | --ssd-dir must be a folder that is empty or not there (was .)",
    "--dram 0 | one of hbm, dram and ssd must be > 0 (all are off)",
    "--connect 127.0.0.1:1 --ssd 1GiB | --ssd must be left out with --connect",
    "--policy random | --policy must be one of lru, lfu, fifo, s3_fifo, w_tinylfu, arc, length_aware, cost_aware, "
        + "reuse_aware, adaptive, sessions (was random)",
    "--concurrency 0 | concurrency must be in [1, 256] (was 0)",
    "--limit 0 | must be > 0 (was 0)",
    "--speed -1 | speed must be >= 0 (was -1.0)",
    "--budget 64KiB | budget must be >=",
    "--connect 127.0.0.1:1 --dram 1GiB | left out with --connect",
    "--connect 127.0.0.1:1 --policy fifo | --policy must be left out with --connect, for the node runs already and "
        + "has its own (was fifo)",
    "--connect 127.0.0.1:1 --processes | --processes must be left out with --connect",
    "--dir logs | --dir must be left out without --processes, for only processes log there (was logs)",
    "--warm | --warm must be left out without --connect, for a new node has no blocks from before (was set)",
    "trace.jsonl --seed 7 | --seed must be left out with TRACE, for only a generated trace has one (was 7)",
    "--limit 3000000000 | --limit must be <= 2147483647 without TRACE (was 3000000000)",
  })
  void nonsense_isRefusedByNameRuleAndValue(String options, String complaint) {
    CommandLineRun run = CommandLineRun.of(("replay " + options).split(" "));

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(complaint);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void connect_whereNoNodeListens_saysSo() {
    CommandLineRun run = CommandLineRun.of("replay", "--connect", "127.0.0.1:1");

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).contains("no node is listening at 127.0.0.1:1 (Connection refused)");
  }
}
