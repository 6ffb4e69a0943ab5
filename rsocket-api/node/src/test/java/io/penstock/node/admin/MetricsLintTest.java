package io.penstock.node.admin;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.KvEventSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class MetricsLintTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir
  private Path folder;

  /// Memory, a disk, KV events, a cluster, a put, a get and a look-up: the page has every meter that such a node has.
  @Test
  void metrics_ofANodeThatWorks_keepTheRulesOfPromtool() throws Exception {
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), Map.of(NodeSettings.LISTEN_PORT, "0",
        AdminSettings.PORT, "0", NodeSettings.DRAM, "20 blocks", NodeSettings.SSD, "20 blocks",
        NodeSettings.SSD_DIR, folder.toString(), KvEventSettings.PORT, "0", ClusterSettings.CLUSTER, "lint",
        ClusterSettings.PORT, "0"))).block(SOON));
    try {
      run(node, "put", "--count", "4");
      run(node, "get", "--trace-id", "0-3", "--discard");
      run(node, "match", "--trace-id", "0-3");
      String page = AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body();

      assertThat(page).contains("penstock_stream_waited_seconds_total{carrier=", "penstock_disk_unsynced_age_seconds{",
          "penstock_kv_events_published_total{", "penstock_cluster_members{",
          "penstock_stream_duration_seconds_bucket{", "jvm_memory_used_bytes{",
          "netty_allocator_memory_used_bytes{");
      assertThat(PrometheusLint.problems(page)).isEmpty();
    } finally {
      node.close().block(SOON);
    }
  }

  private static void run(Node node, String... arguments) {
    CommandLineRun run = CommandLineRun.of(Stream.concat(Stream.of(arguments),
        Stream.of("--connect", "127.0.0.1:" + node.port())).toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
  }

  @Test
  void rules_findWhatPromtoolFinds() {
    assertThat(PrometheusLint.problems("""
        # HELP good_seconds_total Fine
        # TYPE good_seconds_total counter
        good_seconds_total{le="1"} 1.0
        # TYPE wait_milliseconds counter
        wait_milliseconds 1
        # HELP age_ms_count Age
        # TYPE age_ms_count gauge
        age_ms_count 2
        # HELP used_gauge_total Used
        # TYPE used_gauge_total gauge
        used_gauge_total{camelCase="x"} 2
        # HELP size_kibibytes Size
        # TYPE size_kibibytes gauge
        size_kibibytes 2
        size_kibibytes 3
        # HELP took_seconds Took
        # TYPE took_seconds histogram
        took_seconds_bucket{le="+Inf"} 1
        took_seconds_count 1
        took_seconds_sum 1
        """)).containsExactly("age_ms_count: _count, _sum and _bucket are of histograms and summaries",
        "age_ms_count: unit ms is abbreviated", "good_seconds_total: label le is of histograms",
        "size_kibibytes 3: twice", "size_kibibytes: unit must be bytes (was kibibytes)",
        "used_gauge_total: a counter, and nothing else, ends in _total",
        "used_gauge_total: names are snake_case, without colons", "used_gauge_total: type gauge is in the name",
        "wait_milliseconds: a counter, and nothing else, ends in _total", "wait_milliseconds: no help text",
        "wait_milliseconds: unit must be seconds (was milliseconds)");
  }
}
