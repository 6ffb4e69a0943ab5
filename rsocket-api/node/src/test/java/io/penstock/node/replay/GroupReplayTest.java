package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Replays of models whose layers differ, against a model of what they must reuse.
@Timeout(60)
final class GroupReplayTest {
  private static final int REQUESTS = 40;
  /// The blocks of a generated trace have 512 tokens, so a state is stored with every second one.
  private static final String GROUPS =
      "full: 2 layers, key 1x16; sliding: 2 layers, window 1000, key 1x8; state: 1 layer, state 1024, state 1x256";

  private static CommandLineRun replay(String... more) {
    return CommandLineRun.of(Stream.concat(Stream.of("replay", "--limit", "" + REQUESTS, "--json"), Stream.of(more))
        .toArray(String[]::new));
  }

  private static JsonNode report(String... more) {
    CommandLineRun run = replay(more);
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.get("bytesVerified").asLong()).isEqualTo(report.get("bytesDelivered").asLong()).isPositive();
    return report;
  }

  /// Blocks of each request after which a cache that never evicts continues: seen before, up to a position where each
  /// group with states has one.
  private static long reusable(int stateBlocks) {
    Set<Long> seen = new HashSet<>();
    long blocks = 0;
    TraceGenerator trace = new TraceGenerator(GeneratorOptions.defaults().withRequests(REQUESTS));
    for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
      List<Long> ids = request.hashIds();
      int prefix = 0;
      while (prefix < ids.size() && seen.contains(ids.get(prefix))) {
        prefix++;
      }
      blocks += prefix / stateBlocks * (long) stateBlocks;
      seen.addAll(ids);
    }
    return blocks;
  }

  @Test
  void unboundedGroups_reuseWhatAllOfThemCanContinueFrom() {
    assertThat(report("--dram", "unbounded", "--model", "acme", "--kv-groups", GROUPS).get("prefixHits").asLong())
        .isEqualTo(reusable(2)).isLessThan(reusable(1)).isPositive();
    assertThat(report("--dram", "unbounded", "--model", "acme", "--kv-groups", GROUPS.split("; state")[0])
        .get("prefixHits").asLong()).isEqualTo(reusable(1));
  }

  @Test
  void boundedGroups_haveLevelsEach_inBytesOfTheirBlocks_andDecideEachTimeAlike() {
    JsonNode first = report("--dram", "30 blocks", "--model", "acme", "--kv-groups", GROUPS);
    // 512 tokens of 2 layers of 1 x 16 and 1 x 8 elements of two bytes; 1 layer of 256 elements for 2 blocks
    assertThat(first.get("model").get("blockBytesByTier")).isEqualTo(JsonMapper.shared().readTree(
        "{\"dram full\": 32768, \"dram sliding\": 16384, \"dram state\": 512}"));
    assertThat(first.get("model").get("capacityBytesByTier")).isEqualTo(JsonMapper.shared().readTree(
        "{\"dram full\": 983040, \"dram sliding\": 491520, \"dram state\": 7680}"));
    assertThat(first.get("model").get("blockBytes").asLong()).isEqualTo(32768 + 16384 + 256);
    assertThat(first.get("blockBytes").asInt()).as("payloads of all groups").isEqualTo(32768 + 16384 + 256);
    assertThat(first.get("model").get("scale").asDouble()).isEqualTo(1);
    assertThat(first.get("prefixHits").asLong()).isPositive().isLessThan(reusable(2));
    assertThat(report("--dram", "30 blocks", "--model", "acme", "--kv-groups", GROUPS).get("prefixHits"))
        .isEqualTo(first.get("prefixHits"));
  }

  @Test
  void whatGroupsCannotBe_isRefusedByItsOption() {
    assertThat(replay("--model", "gpt-oss-20b", "--concurrency", "4").err())
        .contains("--concurrency must be 1 with a model of several KV groups (was 4)");
    assertThat(replay("--model", "gpt-oss-20b", "--processes").err())
        .contains("--processes must be left out with a model of several KV groups");
    assertThat(replay("--model", "gpt-oss-20b", "--hbm", "9 blocks").err())
        .contains("--hbm must be left out with a model of several KV groups");
    assertThat(replay("--model", "gpt-oss-20b", "--connect", "127.0.0.1:1").err()).contains(
        "kv-group must be one of full, sliding");
  }
}
