package io.penstock.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.whatif.WhatIfPages;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.spi.TierInputs;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(30)
final class AdminServerTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final PenstockMeters meters = PenstockMeters.in(registry);
  private final TierStack tier = new TierStack(BlockShape.defaults().space("admin"),
      List.of(new StackLevel.Host("dram", 10)), StackOptions.defaults("dram"),
      meters.listener("dram", Medium.HOST), TierInputs.ofSystem(),
      new StackOptions.Sampling(2_000, 1));
  private final AtomicReference<NodeState> state = new AtomicReference<>(NodeState.READY);
  private final Scheduler timers = Schedulers.newSingle("admin-test", true);
  private final LoopResources loops = LoopResources.create("admin-test", 1, true);
  private final HttpClient http = HttpClient.newHttpClient();
  private DisposableServer server;

  @BeforeEach
  void bind() {
    meters.bind(new ByteBudget("node", 1 << 20, 1)).bind("dram", tier.arena());
    server =
        new AdminServer(() -> List.of(tier), List::of, state::get, registry, meters, timers,
            new WhatIfPages(() -> List.of(new WhatIfPages.Source(tier.info(), tier::whatIf))))
            .bind("127.0.0.1", 0, AdminOptions.defaults(), loops, timers).block(SOON);
  }

  @AfterEach
  void close() {
    server.disposeNow();
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
    timers.dispose();
    tier.close().block(SOON);
    http.close();
  }

  @Test
  void health_ready_is200WithTheFactsOfTheTier() throws Exception {
    putOne();

    HttpResponse<String> answer = get("/health");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/json");
    JsonNode health = JsonMapper.shared().readTree(answer.body());
    assertThat(health.get("state").asString()).isEqualTo("ready");
    assertThat(health.get("version").asString()).isEqualTo(System.getProperty("penstock.revision"));
    assertThat(health.at("/tiers/0").toString())
        .isEqualTo("{\"name\":\"dram\",\"medium\":\"host\",\"blocks\":1,\"capacityBlocks\":10,"
            + "\"bytes\":65536,\"hits\":0,\"misses\":1,\"evicted\":0,\"corrupt\":0,"
            + "\"levels\":[{\"name\":\"dram\",\"medium\":\"host\",\"state\":\"active\",\"problem\":null,"
            + "\"blocks\":1,\"storedBlocks\":1,\"capacityBlocks\":10,\"hits\":0}]}");
    assertThat(health.get("degraded").asBoolean()).isFalse();
  }

  @Test
  void health_notReady_is503() throws Exception {
    for (NodeState other : List.of(NodeState.STARTING, NodeState.DRAINING)) {
      state.set(other);

      HttpResponse<String> answer = get("/health");

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("\"state\":\"" + other.name().toLowerCase(java.util.Locale.ROOT) + "\"");
    }
  }

  @Test
  void health_tierClosed_is503AndSaysWhy() throws Exception {
    tier.close().block(SOON);

    HttpResponse<String> answer = get("/health");

    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("\"problem\":\"tier dram must be open (was closed)\"");
  }

  @Test
  void metrics_readAsAPrometheusUserExpects() throws Exception {
    putOne();

    HttpResponse<String> answer = get("/metrics");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElse("")).startsWith("text/plain; version=0.0.4");
    assertThat(
        answer.body().lines().filter(line -> line.startsWith("penstock_")).sorted()
            .map(line -> line.replace(tier.info().space().id().toString(), "SPACE"))
            .collect(Collectors.joining("\n")) + "\n")
        .isEqualTo("""
            penstock_arena_capacity_slots{arena="dram"} 138.0
            penstock_arena_claimed_slots{arena="dram"} 1.0
            penstock_arena_high_water_slots{arena="dram"} 1.0
            penstock_budget_capacity_bytes{budget="node"} 1048576.0
            penstock_budget_in_flight_bytes{budget="node"} 0.0
            penstock_budget_peak_bytes{budget="node"} 0.0
            penstock_budget_waiting{budget="node"} 0.0
            penstock_level_active{level="dram",medium="host",tier="dram"} 1.0
            penstock_level_capacity_blocks{level="dram",medium="host",tier="dram"} 10.0
            penstock_level_hits_total{level="dram",medium="host",tier="dram"} 0.0
            penstock_level_stored_blocks{level="dram",medium="host",tier="dram"} 1.0
            penstock_level_visible_blocks{level="dram",medium="host",tier="dram"} 1.0
            penstock_level_whatif_hit_rate{factor="0.5",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_hit_rate{factor="1.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_hit_rate{factor="1.5",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_hit_rate{factor="2.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_hit_rate{factor="4.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_plus_minus{factor="0.5",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_plus_minus{factor="1.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_plus_minus{factor="1.5",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_plus_minus{factor="2.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_level_whatif_plus_minus{factor="4.0",level="dram",space="SPACE",tier="dram"} 0.0
            penstock_queue_capacity_blocks{medium="host",tier="dram"} +Inf
            penstock_queue_held_bytes{medium="host",tier="dram"} 0.0
            penstock_queue_longest_seconds{medium="host",tier="dram"} 0.0
            penstock_queue_peak_blocks{medium="host",tier="dram"} 0.0
            penstock_queue_time_seconds_total{medium="host",tier="dram"} 0.0
            penstock_queue_waiting_blocks{medium="host",tier="dram"} 0.0
            penstock_queue_withheld_total{medium="host",tier="dram"} 0.0
            penstock_tier_above_watermark_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_blocked_total{medium="host",reason="hard-pinned",tier="dram"} 0.0
            penstock_tier_blocked_total{medium="host",reason="in-use",tier="dram"} 0.0
            penstock_tier_blocked_total{medium="host",reason="leased",tier="dram"} 0.0
            penstock_tier_blocked_total{medium="host",reason="soft-pinned",tier="dram"} 0.0
            penstock_tier_capacity_blocks{medium="host",tier="dram"} 10.0
            penstock_tier_claimed_bytes{medium="host",tier="dram"} 65536.0
            penstock_tier_evicted_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_evicted_for_room_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_held_total{medium="host",tier="dram"} 0.0
            penstock_tier_kept_blocks{medium="host",reason="hard-pinned",tier="dram"} 0.0
            penstock_tier_kept_blocks{medium="host",reason="leased",tier="dram"} 0.0
            penstock_tier_kept_blocks{medium="host",reason="soft-pinned",tier="dram"} 0.0
            penstock_tier_leases{medium="host",tier="dram"} 0.0
            penstock_tier_lost_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_prefetched_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_quarantined_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_reclaimed_bytes_total{medium="host",tier="dram"} 0.0
            penstock_tier_references_total{medium="host",result="hit",tier="dram"} 0.0
            penstock_tier_references_total{medium="host",result="miss",tier="dram"} 1.0
            penstock_tier_sequence{medium="host",tier="dram"} 1.0
            penstock_tier_stored_blocks_total{medium="host",tier="dram"} 1.0
            penstock_tier_used_bytes{medium="host",tier="dram"} 65536.0
            penstock_tier_visible_blocks{medium="host",tier="dram"} 1.0
            penstock_tier_wasted_blocks_total{medium="host",tier="dram"} 0.0
            penstock_tier_written_bytes_total{medium="host",tier="dram"} 65536.0
            """);
    assertThat(answer.body()).contains("# HELP penstock_tier_stored_blocks_total Blocks made visible",
        "# TYPE penstock_tier_used_bytes gauge");
  }

  @Test
  void metrics_ofATierThatDoesNotAnswer_areStillShown() throws Exception {
    tier.close().block(SOON);

    assertThat(get("/metrics").body()).contains("penstock_tier_visible_blocks{medium=\"host\",tier=\"dram\"} 0.0");
  }

  @Test
  void whatIf_saysWhatOtherCapacitiesWouldBring() throws Exception {
    BlockKey key = putOne();
    try (BlockScope scope = new BlockScope()) {
      for (int i = 0; i < 3; i++) {
        tier.lease(List.of(key), OnMiss.SKIP, scope).block(SOON);
      }
    }

    HttpResponse<String> answer = get("/whatif");

    assertThat(answer.headers().firstValue("content-type")).contains("application/json");
    JsonNode whatIf = JsonMapper.shared().readTree(answer.body());
    assertThat(whatIf.get("policy").asString()).isEqualTo("lru");
    assertThat(whatIf.at("/spaces/0/space").asString()).isEqualTo(tier.info().space().id().toString());
    assertThat(whatIf.at("/spaces/0/expected/1").toString())
        .isEqualTo("{\"level\":\"dram\",\"factor\":1.0,\"capacityBlocks\":10,\"hitRate\":0.75,\"plusMinus\":0.0,"
            + "\"tierHitRate\":0.75,\"tierPlusMinus\":0.0}");
    assertThat(whatIf.at("/spaces/0/whatIf/curve/references").asInt()).isEqualTo(4);
    HttpResponse<String> chart = get("/whatif.svg");
    assertThat(chart.headers().firstValue("content-type")).contains("image/svg+xml");
    assertThat(chart.body()).startsWith("<svg ").contains("dram, 10 blocks = 640 KiB now").endsWith("</svg>\n");
  }

  @Test
  void index_pointsTheWay_andOtherPathsAreNotFound() throws Exception {
    assertThat(get("/").body()).contains("/metrics", "/health", "/whatif");
    assertThat(get("/nothing").statusCode()).isEqualTo(404);
  }

  private BlockKey putOne() {
    BlockKey key = tier.info().space().key(new BlockHash(1, 2));
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = tier.reserve(List.of(key), scope).block(SOON);
      reservation.drafts().forEach(draft -> draft.produced(GranuleRange.all(draft.layout())));
      reservation.commit(reservation.drafts()).block(SOON);
      tier.lease(List.of(tier.info().space().key(new BlockHash(9, 9))), OnMiss.SKIP, scope).block(SOON);
    }
    return key;
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return http.send(HttpRequest.newBuilder(uri).timeout(SOON).build(), BodyHandlers.ofString());
  }
}
