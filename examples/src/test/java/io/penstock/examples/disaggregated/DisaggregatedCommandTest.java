package io.penstock.examples.disaggregated;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.KvFormat;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.RandomDeployment;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.node.cli.Console;
import io.penstock.node.plan.PlanCommand;
import io.penstock.node.text.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

@Timeout(300)
final class DisaggregatedCommandTest {
  private final ConsoleCapture capture = new ConsoleCapture();
  @TempDir
  private Path folder;

  private int run(String line) {
    List<String> args = new ArrayList<>(List.of("disaggregated"));
    args.addAll(List.of(line.split(" ")));
    return Examples.run(args.toArray(String[]::new), capture.console());
  }

  @Test
  void nodesOfOneProcess_giveTheBitsOfOneRank() throws IOException {
    assertThat(run("--in-process --tokens 6 --prompt abcdefghijklmnopqrstuvwxyz --json --mode pull --prefill-tp 2"
        + " --decode-tp 8 --decode-pp 2 --block-size 8 --decode-block-size 24 --decode-layout hnd --tier ssd"
        + " --draft-tokens 2")).as(capture.err()).isZero();

    JsonNode report = Json.MAPPER.readTree(capture.out());
    assertThat(report.get("requests")).hasSize(2).allSatisfy(request -> {
      assertThat(request.get("bitsEqual").asBoolean()).isTrue();
      assertThat(request.get("disaggregated")).isEqualTo(request.get("monolithic"));
      assertThat(request.get("movedBytes").asInt()).isPositive();
      assertThat(request.get("times")).as("computed, waited for, transferred").hasSize(3 * 5);
    });
    assertThat(report.get("requests").get(0).get("cachedTokens").asInt()).isZero();
    assertThat(report.get("requests").get(1).get("cachedTokens").asInt())
        .as("the second prompt begins as the first").isEqualTo(24);
  }

  @Test
  void processes_giveTheBitsOfOneRank() throws IOException {
    Path image = folder.resolve("layers.svg");

    assertThat(run("--mla --prefill-pp 2 --pcp 2 --decode-tp 4 --dcp 2 --tier hbm --tokens 5"
        + " --prompt abcdefghijklmnopqrstuvwxyz --svg " + image)).as(capture.err()).isZero();

    assertThat(capture.out()).startsWith("disaggregated: push\n  prefill tp 4").contains("request 1: prefill 0",
        "monolithic ", "█ compute").containsOnlyOnce("request 0").doesNotContain("differ");
    assertThat(capture.out().lines().filter(line -> line.equals("  logits        equal, bit for bit"))).hasSize(2);
    assertThat(Files.readString(image)).startsWith("<svg");
  }

  /// Decode → prefill: another prefill than the first gets the blocks of the answer from the decode, across unlike
  /// parallelism, block sizes and axis orders.
  @Test
  void nextTurn_pullsWhatTheDecodeComputed() throws IOException {
    assertThat(run("--in-process --turns 3 --requests 1 --prefill 2 --tokens 12 --prompt abcdefghijklmnopqrstuvwxyz"
        + " --json --prefill-tp 4 --prefill-pcp 2 --decode-tp 2 --decode-pp 2 --block-size 8 --decode-block-size 4"
        + " --decode-layout hnd --mode push --draft-tokens 2")).as(capture.err()).isZero();

    JsonNode turns = Json.MAPPER.readTree(capture.out()).get("requests");
    assertThat(turns).hasSize(3).allSatisfy(turn -> assertThat(turn.get("bitsEqual").asBoolean()).isTrue());
    assertThat(turns.get(0).at("/prefix/pulledTokens").asInt()).isZero();
    assertThat(turns.get(1).at("/prefix/cachedTokens").asInt()).as("a prefill that is new to it").isZero();
    assertThat(turns.get(1).at("/prefix/pulledTokens").asInt()).as("prompt and answer").isBetween(32, 36);
    assertThat(turns.get(2).at("/prefix/cachedTokens").asInt()).as("the first prefill has the first prompt")
        .isEqualTo(24);
    assertThat(turns.get(2).at("/prefix/pulledTokens").asInt()).as("both answers").isBetween(28, 36);
    assertThat(turns.get(2).get("cachedTokens").asInt()).as("the decode has all but the question").isBetween(52, 60);
  }

  @Tag("proof")
  @Test
  void processesAtRandom_giveTheBitsOfOneRank() {
    for (int seed = 0; seed < 20; seed++) {
      String options = atRandom(new SplittableRandom(seed)) + " --tokens 8 --seed " + seed;
      assertThat(run(options)).as("seed %d: %s%n%s%s", seed, options, capture.out(), capture.err()).isZero();
    }
  }

  private static String atRandom(RandomGenerator random) {
    boolean latent = random.nextBoolean();
    return String.join(" ", "--prefill " + random.nextInt(1, 3), "--decode " + random.nextInt(1, 3),
        "--prefill-tp " + (1 << random.nextInt(4)), "--decode-tp " + (1 << random.nextInt(latent ? 1 : 0, 4)),
        "--prefill-pp " + random.nextInt(1, 5), "--decode-pp " + random.nextInt(1, 5),
        "--pcp " + random.nextInt(1, 4), latent ? "--mla --dcp 2" : "--dcp 1",
        "--block-size " + (4 * random.nextInt(1, 9)), "--decode-block-size " + (4 * random.nextInt(1, 9)),
        "--layout " + RandomDeployment.pick(random, "nhd", "hnd"),
        "--decode-layout " + RandomDeployment.pick(random, "nhd", "hnd"),
        "--tier " + RandomDeployment.pick(random, "hbm", "dram", "ssd"),
        "--mode " + RandomDeployment.pick(random, "push", "pull"), "--draft-tokens " + random.nextInt(4),
        "--chunk " + random.nextInt(5, 100), "--turns " + random.nextInt(1, 4));
  }

  @Test
  void writtenModel_givesTheTextOfItsSeed() throws IOException {
    Path model = folder.resolve("model");
    assertThat(run("--write-model " + model + " --seed 9")).as(capture.err()).isZero();
    assertThat(model.resolve("model.safetensors")).exists();

    assertThat(run("--model " + model + " --in-process --prompt Water --requests 1 --tokens 5 --json"))
        .as(capture.err()).isZero();

    String json = capture.out().substring(capture.out().indexOf('{'));
    assertThat(Json.MAPPER.readTree(json).get("requests").get(0).get("disaggregated").asString())
        .isEqualTo(monolithic(Model.seeded(ModelConfig.tiny(), 9)));
  }

  private static String monolithic(Model model) {
    int[] prompt = ByteTokenizer.encode("Water");
    try (Instance instance = new Instance(Deployment.monolithic(model, KvFormat.defaults()), 1, 16);
        Sequence sequence = instance.open("whole")) {
      return ByteTokenizer.decode(Decode
          .of(sequence, new SpeculativeConfig(1, 0), prompt.length, Prefill.of(sequence, prompt), 5).tokens());
    }
  }

  @Test
  void brokenModel_isSaidAsData() throws IOException {
    assertThat(run("--write-model " + folder)).isZero();
    Path file = folder.resolve("model.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[7] = 127;
    Files.write(file, bytes);

    assertThat(run("--in-process --model " + folder)).isEqualTo(65);
    assertThat(capture.err()).contains("header length must be <= ").doesNotContain("\tat ");
  }

  @Test
  void keyThatIsNotComputed_isSaidAsData() throws IOException {
    assertThat(run("--write-model " + folder)).isZero();
    Path config = folder.resolve("config.json");
    Files.writeString(config, Files.readString(config).replaceFirst("\\{", "{\"final_logit_softcapping\":30.0,"));

    assertThat(run("--in-process --model " + folder)).isEqualTo(65);
    assertThat(capture.err()).contains(config + ": final_logit_softcapping must be left out, since this key is not"
        + " computed here (was 30.0)").doesNotContain("\tat ");
    assertThat(run("--in-process --model " + config)).isEqualTo(65);
    assertThat(capture.err()).contains(config + ": model must be a folder with config.json (is not)");
  }

  /// A plan of the same sides and prompt has both figures, too.
  @Test
  void movedBytes_andBytesOfTokens_areThoseOfThePlan() {
    assertThat(run("--in-process --tokens 2 --requests 1 --prompt abcdefghijklmnopqrstuvwxyz --json --prefill-tp 2"
        + " --decode-tp 4 --decode-pp 2 --block-size 12 --decode-block-size 8")).as(capture.err()).isZero();
    JsonNode request = Json.MAPPER.readTree(capture.out()).get("requests").get(0);

    JsonNode plan = plan("""
        {"model": {"layers": 4, "draftLayers": 1, "kvHeads": 4, "headDim": 8, "type": "fp32"}, "prefill": {"tp": 2,
        "blockTokens": 12}, "decode": {"tp": 4, "pp": 2, "blockTokens": 8}, "request": {"id": "a", "promptTokens": 27}}
        """);
    assertThat(request.get("tokenBytes").asLong()).isEqualTo(sum(plan, "bytes"))
        .isEqualTo(27L * 5 * 4 * 8 * 2 * 4); // tokens, layers, heads, width, planes, bytes
    assertThat(request.get("movedBytes").asLong()).isEqualTo(sum(plan, "movedBytes"))
        .isEqualTo(36L * 5 * 4 * 8 * 2 * 4); // three whole blocks of 12 tokens
  }

  private static long sum(JsonNode plan, String field) {
    return plan.get("transfers").valueStream().mapToLong(transfer -> transfer.get(field).asLong()).sum();
  }

  private static JsonNode plan(String input) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
        new PrintStream(out, true, StandardCharsets.UTF_8), System.err, false, Map.of());
    assertThat(new CommandLine(new PlanCommand(console)).execute("--json")).isZero();
    return Json.MAPPER.readTree(out.toString(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          --decode-tp 8 --dcp 4      | --decode-dcp must divide --decode-tp / KV heads, the ranks with equal KV heads
          --prefill-dcp 2            | --prefill-dcp must divide --prefill-tp / KV heads, the ranks with equal KV heads
          --prefill-tp 3             | --prefill-tp must divide the 8 query heads (was 3)
          --decode-tp 0              | --decode-tp must be > 0 (was 0)
          --decode-pp 5              | --decode-pp must be <= the 4 layers (was 5)
          --pcp 65                   | --prefill-tp × --prefill-pp × --prefill-pcp must be <= 64 (was 4 × 1 × 65)
          --decode-pcp 2147483647    | --decode-tp × --decode-pp × --decode-pcp must be <= 64 (was 2 × 1 × 2147483647)
          --block-size 6             | --block-size must be a multiple of 4 (was 6)
          --decode-block-size 7      | --decode-block-size must be a multiple of 4 (was 7)
          --requests 1001            | --requests must be <= 1000 (was 1001)
          --requests 11 --turns 100  | --requests × --turns must be <= 1000 (was 11 × 100)
          --requests 0               | --requests must be > 0 (was 0)
          --prefill 17               | --prefill must be <= 16 (was 17)
          --decode 17                | --decode must be <= 16 (was 17)
          --model x --mla            | --mla must be left out with --model (was given)
          --model x --seed 1         | --seed must be left out with --model (was given)
          --write-model x --model y  | --model must be left out with --write-model (was given)
          """)
  void flagThatCannotBe_isMisuse_namedAsItIsTyped(String line, String message) {
    assertThat(run("--in-process " + line)).isEqualTo(2);
    assertThat(capture.err()).contains(message);
  }

  @Test
  void contextParallelismOnBothSides_givesTheBitsOfOneRank() {
    assertThat(run("--in-process --mla --prefill-tp 4 --prefill-pcp 2 --prefill-dcp 2 --decode-tp 4 --decode-pcp 3"
        + " --decode-dcp 4 --tokens 4 --requests 1 --json")).as(capture.err()).isZero();

    JsonNode report = Json.MAPPER.readTree(capture.out());
    assertThat(report.at("/prefill/dcp").asInt()).isEqualTo(2);
    assertThat(report.at("/decode/pcp").asInt()).isEqualTo(3);
    assertThat(report.get("layers").asInt()).isEqualTo(4);
    assertThat(report.get("draftLayers").asInt()).isEqualTo(1);
  }
}
