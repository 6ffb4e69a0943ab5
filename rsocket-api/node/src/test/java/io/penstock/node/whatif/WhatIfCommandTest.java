package io.penstock.node.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.CommandLineRun;
import io.penstock.node.admin.AdminOptions;
import io.penstock.node.admin.AdminServer;
import io.penstock.node.admin.NodeState;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceRequest;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xml.sax.InputSource;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
final class WhatIfCommandTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  @TempDir
  private Path folder;

  @Test
  void generatedTrace_atRateOneTenth_isWithinTwoPoints() {
    List<Long> references = generated(4_000, 1);
    long[] capacities = {500, 2_000, 5_000, 10_000, 20_000, 40_000};
    double[] exact = new double[capacities.length];
    for (int i = 0; i < exact.length; i++) {
      exact[i] = (double) plainLru(references, capacities[i]) / references.size();
    }
    double all = 0;
    for (long seed = 0; seed < 10; seed++) {
      BlockKey key = new BlockKey(BlockShape.defaults().space("x").id(), BlockHash.ROOT);
      MissRatioCurve sampled = new MissRatioCurve(key.space(), MissRatioOptions.ofRate(0.1, seed));
      references.forEach(id -> sampled.access(new BlockKey(key.space(), new BlockHash(0, id))));
      HitRateCurve curve = sampled.curve();
      double error = 0;
      for (int i = 0; i < exact.length; i++) {
        error += Math.abs(curve.at(capacities[i]).hitRate() - exact[i]) / exact.length;
      }
      assertThat(error).as("mean absolute error, seed %d", seed).isLessThanOrEqualTo(0.03);
      all += error / 10;
    }
    assertThat(all).as("mean absolute error").isLessThanOrEqualTo(0.015);
  }

  @Test
  void trace_theExactHitRates_areThoseOfAPlainLru() throws Exception {
    Path trace = trace(800, 2);
    List<Long> references = generated(800, 2);

    CommandLineRun run = CommandLineRun.of("whatif", trace.toString(), "--dram", "1000 blocks", "--ssd", "500 blocks",
        "--add", "1000 blocks,3000 blocks", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode space = JsonMapper.shared().readTree(run.out()).at("/spaces/0");
    assertThat(space.get("references").asLong()).isEqualTo(references.size());
    assertThat(space.at("/trace/workingSetBlocks").asLong()).isEqualTo(references.stream().distinct().count());
    assertThat(space.get("steps")).hasSize(6).allSatisfy(step -> {
      long whole = 1_500 + step.get("addBlocks").asLong();
      double exact = (double) plainLru(references, whole) / references.size();
      assertThat(step.get("exactHitRate").asDouble()).isCloseTo(exact, within(1e-12));
      assertThat(step.at("/tier/hitRate").asDouble()).isCloseTo(exact,
          within(0.005 + step.at("/tier/plusMinus").asDouble()));
    });
    assertThat(space.at("/steps/1/level").asString()).isEqualTo("dram");
    assertThat(space.at("/steps/1/upToLevel/hitRate").asDouble())
        .isCloseTo((double) plainLru(references, 2_000) / references.size(),
            within(0.005 + space.at("/steps/1/upToLevel/plusMinus").asDouble()));
  }

  @Test
  void trace_isShownAsATableAndAChart() throws Exception {
    Path trace = folder.resolve("small.jsonl");
    String ids = IntStream.range(0, 8).mapToObj(String::valueOf).collect(Collectors.joining(","));
    String line = "{\"timestamp\":0,\"input_length\":4096,\"output_length\":1,\"hash_ids\":[" + ids + "]}\n";
    Files.writeString(trace, line.repeat(10)); // 8 keys in turn: a cache of 8 has 72 hits, one of 7 has none
    Path chart = folder.resolve("curve.svg");

    CommandLineRun run = CommandLineRun.of("whatif", trace.toString(), "--dram", "4GiB", "--add", "4GiB,8GiB",
        "--block-bytes", "1GiB", "--svg", chart.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo("""
        small.jsonl: 80 references to 8 different blocks. LRU, from 8 sampled keys
        (all). ± is a 95 % interval. PREFILL is at 10,000 tokens/s.
        Model: a block of a stated size, 2 MiB a token, 1 GiB a block of 512 tokens.
        Ceiling, without a bound: 90.0 % at 8 blocks = 8.00 GiB.

        LEVEL  STEP       BLOCKS  CAPACITY  HIT RATE      GAIN                 EXACT
        dram   now             4  4.00 GiB  0.0 ± 0.0 %                        0.0 %
        dram   +4.00 GiB       8  8.00 GiB  90.0 ± 0.0 %  +90.0 ± 0.0 points  90.0 %
        dram   +8.00 GiB      12  12.0 GiB  90.0 ± 0.0 %  +90.0 ± 0.0 points  90.0 %

        LEVEL  STEP       TOKENS REUSED  PREFILL SAVED  MORE
        dram   now                    0         0.00 s
        dram   +4.00 GiB         36,864         3.69 s  +3.69 s
        dram   +8.00 GiB         36,864         3.69 s  +3.69 s
        """);
    assertThat(run.err()).isEqualTo("curve in " + chart.toRealPath() + "\n");
    CommandLineRun tiny = CommandLineRun.of("whatif", trace.toString(), "--dram", "1 block", "--json");
    assertThat(JsonMapper.shared().readTree(tiny.out()).at("/spaces/0/steps")).as("no step twice")
        .extracting(step -> step.get("addBlocks").asLong()).containsExactly(0L, 1L, 3L);
    String svg = Files.readString(chart);
    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    assertThat(svg).contains("Hit rate by capacity: small.jsonl", "dram, 4 blocks = 4.00 GiB now", ">exact<",
        ">ceiling, without a bound: 90.0 %<");
  }

  @Test
  void trace_withoutACapacity_saysThatItIsAssumed_andTheModelIsStated() throws Exception {
    Path trace = trace(300, 4);
    Path page = folder.resolve("whatif.html");
    Path document = folder.resolve("whatif.json");
    Path chart = folder.resolve("curve.svg");

    CommandLineRun run = CommandLineRun.of("whatif", trace.toString(), "--model", "llama-3.1-70b", "--prefill-rate",
        "20000", "--report", page.toString(), "--report", document.toString(), "--svg", chart.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out().replace('\n', ' ')).contains("No capacity was given, so a tenth of the different blocks is "
        + "assumed; --dram states yours.", "Model: llama-3.1-70b, 320 KiB a token, 160 MiB a block of 512 tokens.");
    assertThat(run.out().lines().filter(line -> line.startsWith("dram   ")))
        .hasSize(8).noneMatch(line -> line.contains("now")).anyMatch(line -> line.startsWith("dram   assumed "));
    assertThat(Files.readString(chart)).contains(" GiB assumed<").doesNotContain(" now<");
    JsonNode space = JsonMapper.shared().readTree(document.toFile()).at("/spaces/0");
    assertThat(space.at("/trace/isAssumed").asBoolean()).isTrue();
    assertThat(space.at("/steps/3/capacityBytes").asLong())
        .isEqualTo(space.at("/steps/3/capacityBlocks").asLong() * (160 << 20));
    assertThat(space.at("/steps/3/prefillSecondsSaved").asDouble())
        .isEqualTo(space.at("/steps/3/tokensReused").asLong() / 2e4, within(1e-3));
    assertThat(Files.readString(page)).contains("The present capacity is assumed, because none was given.",
        "\"blockBytes\":167772160", "\"label\":\"knee\"", "\"ceiling\"");
    assertThat(CommandLineRun.of("whatif", trace.toString(), "--dram", "1TiB").out()).contains("dram   now ")
        .doesNotContain("assumed");
  }

  @Test
  void node_isAskedForItsCurve() throws Exception {
    try (Served served = new Served(2_000)) {
      served.ask(8);
      served.ask(8);
      served.ask(8);

      CommandLineRun table = CommandLineRun.of("whatif", "--admin", served.address(), "--add", "4 blocks");
      assertThat(table.exitCode()).as(table.err()).isZero();
      assertThat(table.out()).isEqualTo("""
          dram: 24 references. LRU, from 8 sampled keys (all). ± is a 95 % interval.
          PREFILL is at 10,000 tokens/s.

          LEVEL  STEP      BLOCKS  CAPACITY  HIT RATE      GAIN
          dram   now            4   256 KiB  0.0 ± 0.0 %
          dram   +256 KiB       8   512 KiB  66.7 ± 0.0 %  +66.7 ± 0.0 points

          LEVEL  STEP      TOKENS REUSED  PREFILL SAVED  MORE
          dram   now                   0         0.00 s
          dram   +256 KiB            256         0.03 s  +0.03 s
          """);

      CommandLineRun json = CommandLineRun.of("whatif", "--admin", served.address(), "--json", "--svg",
          folder.resolve("node.svg").toString(), "--report", folder.resolve("node.html").toString());
      JsonNode steps = JsonMapper.shared().readTree(json.out()).at("/spaces/0/steps");
      assertThat(steps).extracting(step -> step.get("addBlocks").asLong()).containsExactly(0L, 2L, 4L, 12L);
      assertThat(steps).extracting(step -> step.at("/tier/hitRate").asDouble())
          .satisfiesExactly(rate -> assertThat(rate).isZero(), rate -> assertThat(rate).isZero(),
              rate -> assertThat(rate).isCloseTo(2.0 / 3, within(1e-4)),
              rate -> assertThat(rate).isCloseTo(2.0 / 3, within(1e-4)));
      assertThat(folder.resolve("node.html")).content().contains("Hit rate of dram", "\"blockBytes\":65536");
      assertThat(folder.resolve("node.svg")).content().contains("dram at " + served.address());
    }
  }

  @Test
  void node_withoutReferences_orWithoutAnEstimate_saysSo() throws Exception {
    try (Served served = new Served(2_000)) {
      CommandLineRun run = CommandLineRun.of("whatif", "--admin", served.address());
      assertThat(run.exitCode()).isZero();
      assertThat(run.err()).isEqualTo("dram has had no references yet\n");
      assertThat(run.out()).isEmpty();
    }
    try (Served served = new Served(0)) {
      CommandLineRun run = CommandLineRun.of("whatif", "--admin", served.address());
      assertThat(run.exitCode()).isEqualTo(69);
      assertThat(run.err()).contains("whatif.samples must be > 0 in the node at " + served.address() + " (was 0)");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--dram 1GiB | 2 | --dram must be left out without TRACE, for the node knows its capacity (was 1 GiB)",
    "small.jsonl --admin 127.0.0.1:1 | 2 | --admin must be left out with TRACE, for no node is asked",
    "--model glm-4-9b | 2 | --model must be left out without TRACE, for the node knows its blocks (was glm-4-9b)",
    "--block-bytes 1MiB | 2 | --block-bytes must be left out without TRACE, for the node knows its blocks (was 1MiB)",
    "small.jsonl --add 1MiB | 2 | --add must be >= one block of 64 MiB (was 1 MiB)",
    "small.jsonl --prefill-rate 0 | 2 | --prefill-rate must be > 0 tokens a second (was 0)",
    "small.jsonl --add 0 | 2 | --add must be a size or \"N blocks\", above 0 (was 0)",
    "small.jsonl --level hbm | 2 | --hbm must be given with --level hbm, for steps begin from its capacity (was left "
        + "out)",
    "small.jsonl --samples 0 | 2 | --samples must be > 0 (was 0)", "--admin 127.0.0.1:1 | 69 | no admin server",
    "absent.jsonl | 74 | absent.jsonl", "broken.jsonl | 65 | broken.jsonl, line 1"})
  void whatCannotBeDone_isRefused(String arguments, int exitCode, String complaint) throws Exception {
    Files.writeString(folder.resolve("broken.jsonl"), "no trace\n");
    Files.writeString(folder.resolve("small.jsonl"),
        "{\"timestamp\":0,\"input_length\":512,\"output_length\":1,\"hash_ids\":[1]}\n");
    List<String> words = new ArrayList<>(List.of("whatif"));
    for (String word : arguments.strip().split(" ")) {
      words.add(word.endsWith(".jsonl") ? folder.resolve(word).toString() : word);
    }

    CommandLineRun run = CommandLineRun.of(words.toArray(String[]::new));

    assertThat(run.err()).contains(complaint.strip());
    assertThat(run.exitCode()).isEqualTo(exitCode);
  }

  private Path trace(int requests, long seed) {
    Path file = folder.resolve("trace.jsonl");
    CommandLineRun run = CommandLineRun.of("trace", "generate", "--requests", String.valueOf(requests), "--seed",
        String.valueOf(seed), "--out", file.toString());
    assertThat(run.exitCode()).isZero();
    return file;
  }

  private static List<Long> generated(int requests, long seed) {
    TraceGenerator generator = new TraceGenerator(new GeneratorOptions(requests, seed));
    List<Long> references = new ArrayList<>();
    for (TraceRequest request = generator.next(); request != null; request = generator.next()) {
      references.addAll(request.hashIds());
    }
    return references;
  }

  /// Hits of the textbook policy: touch, then insert, evict one at a time.
  private static long plainLru(List<Long> references, long capacity) {
    LinkedHashSet<Long> kept = new LinkedHashSet<>();
    long hits = 0;
    for (Long id : references) {
      hits += kept.remove(id) ? 1 : 0;
      kept.add(id);
      if (kept.size() > capacity) {
        kept.removeFirst();
      }
    }
    return hits;
  }

  /// A tier of 4 blocks behind an admin server.
  private static final class Served implements AutoCloseable {
    private final TierStack tier;
    private final Scheduler timers = Schedulers.newSingle("whatif-test", true);
    private final LoopResources loops = LoopResources.create("whatif-test", 1, true);
    private final DisposableServer server;

    Served(int samples) {
      tier = new TierStack(BlockShape.of(64 << 10, 4).space("whatif"), List.of(new StackLevel.Host("dram", 4)),
          StackOptions.defaults("dram"), TierListener.noop(), TierInputs.ofSystem(),
          new StackOptions.Sampling(samples, 1));
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      server = new AdminServer(() -> List.of(tier), List::of, () -> NodeState.READY, registry,
          PenstockMeters.in(registry), timers,
          new WhatIfPages(() -> List.of(new WhatIfPages.Source(tier.info(), tier::whatIf))))
          .bind("127.0.0.1", 0, AdminOptions.defaults(), loops, Schedulers.immediate()).block(SOON);
    }

    String address() {
      return "127.0.0.1:" + server.port();
    }

    /// Asks for `keys` keys, one after the other, and admits each: the ledger has it from then on.
    void ask(int keys) {
      for (int i = 0; i < keys; i++) {
        BlockKey key = tier.info().space().key(new BlockHash(0, i));
        try (BlockScope scope = new BlockScope()) {
          tier.lease(List.of(key), OnMiss.SKIP, scope).block(SOON);
          Reservation reservation = tier.reserve(List.of(key), scope).block(SOON);
          reservation.drafts().forEach(draft -> draft.produced(GranuleRange.all(draft.layout())));
          reservation.commit(reservation.drafts()).block(SOON);
        }
      }
    }

    @Override
    public void close() {
      server.disposeNow();
      loops.disposeLater(Duration.ZERO, SOON).block(SOON);
      timers.dispose();
      tier.close().block(SOON);
    }
  }
}
