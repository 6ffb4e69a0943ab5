package io.penstock.lab.plan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xml.sax.InputSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class PlanCommandTest {
  private static final String INPUT = """
      {"model": {"layers": 4, "kvHeads": 8, "headDim": 128},
       "prefill": {"tp": 4, "pp": 2, "blockTokens": 128},
       "decode": {"tp": 2, "blockTokens": 16},
       "request": {"id": "a<b", "promptTokens": 300, "cachedTokens": 16}}
      """;
  private static final String PORTS =
      """
          {"cases": [
            {"input": {"kv_port": 20000, "dp_rank": 1, "tp": 8, "pp": 1, "pcp": 2,
             "pp_rank": 0, "pcp_rank": 1, "tp_rank": 5},
             "base_port": 20016, "device_index": 13, "handshake_port": 20029},
            {"input": {"kv_port": 20000, "dp_rank": 0, "tp": 8, "pp": 1, "pcp": 1,
             "pp_rank": 0, "pcp_rank": 0, "tp_rank": 3},
             "base_port": 20000, "device_index": 3, "handshake_port": %d}]}
          """;

  @TempDir
  private Path folder;

  private static CommandLineRun plan(String input, String... arguments) {
    String[] all = new String[arguments.length + 1];
    all[0] = "plan";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return LabRun.with(Map.of(), input.getBytes(UTF_8), all);
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  @Test
  void ownInput_givesATable() {
    CommandLineRun run = plan(INPUT);
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).startsWith("""
        request a<b: 300 prompt tokens, of which decode has 16
        prefill: TP 4, PP 2, PCP 1, DCP 1, 4 layers of 8 KV heads in blocks of 128 tokens (NHD), 16.0 KiB a token
        decode:  TP 2, PP 1, PCP 1, DCP 1, 4 layers of 8 KV heads in blocks of 16 tokens (NHD), 16.0 KiB a token
        """);
    assertThat(run.out()).contains("pp0.cp0.tp0  pp0.cp0.tp0      0  0-1     0-1       284");
    assertThat(run.out()).contains(
        "decode pp0.cp0.tp1 waits for 4 completions: pp0.cp0.tp2, pp0.cp0.tp3, pp1.cp0.tp2, pp1.cp0.tp3");
    assertThat(run.out()).endsWith("every prefill rank is pulled\n");
  }

  @Test
  void ownInput_givesJson() {
    JsonNode plan = JsonMapper.shared().readTree(plan(INPUT, "--json").out());
    assertThat(plan.get("transfers")).hasSize(8);
    long bytes = plan.get("transfers").valueStream().mapToLong(one -> one.get("bytes").asLong()).sum();
    assertThat(bytes).isEqualTo(284L * 4 * 8 * 128 * 2 * 2); // tokens, layers, heads, width, bytes, planes
    assertThat(plan.get("transfers").get(0).get("pieces").get(0)).isEqualTo(JsonMapper.shared().readTree("""
        {"sourceBlock": 0, "sourceToken": 16, "destinationBlock": 1, "destinationToken": 0, "firstToken": 16,
         "tokens": 16}"""));
    assertThat(plan.get("decodeWaitsFor").get(0).get("expected").asInt()).isEqualTo(4);
    assertThat(plan.get("neverPulled")).isEmpty();
  }

  @Test
  void ownInput_givesAPicture_withRanksAndArrows() throws Exception {
    Path picture = folder.resolve("plan.svg");
    assertThat(plan(INPUT, "--svg", picture.toString()).exitCode()).isZero();
    String svg = Files.readString(picture);
    var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
        new InputSource(new StringReader(svg)));
    assertThat(svg.lines().filter(line -> line.contains("marker-end"))).hasSize(8);
    assertThat(document.getElementsByTagName("rect").getLength()).as("page, ranks, legend").isEqualTo(1 + 8 + 2 + 2);
    assertThat(svg).contains("Request a&lt;b: 300 prompt tokens, of which decode has 16",
        "layers 0-1, heads 0-1, 284 tokens", "prefers-color-scheme:dark");
  }

  @Test
  void latents_areReplicated_andMostRanksAreNeverPulled() {
    CommandLineRun run = plan("""
        {"model": {"layers": 2, "latentRank": 512}, "prefill": {"tp": 8}, "decode": {"tp": 2},
         "request": {"id": "r", "promptTokens": 40}}""", "--json");
    JsonNode plan = JsonMapper.shared().readTree(run.out());
    assertThat(plan.get("neverPulled")).hasSize(6);
    assertThat(plan.get("releaser").asInt()).isZero();
  }

  @Test
  void groups_haveTransfersEach() {
    CommandLineRun run = plan("""
        {"model": {"groups": [{"layers": [0, 2], "kvHeads": 4}, {"layers": [1, 3], "kvHeads": 2, "windowTokens": 32}]},
         "prefill": {"tp": 1, "pp": 2}, "decode": {"tp": 1}, "request": {"id": "r", "promptTokens": 100}}""", "--json");
    JsonNode transfers = JsonMapper.shared().readTree(run.out()).get("transfers");
    assertThat(transfers.valueStream().mapToInt(one -> one.get("group").asInt())).containsExactly(0, 0, 1, 1);
    assertThat(transfers.get(2).get("pieces").get(0).get("firstToken").asInt()).isEqualTo(64);
  }

  private static String hybrid(String model) {
    return """
        {"model": %s, "prefill": {"tp": 4, "pp": 2}, "decode": {"tp": 2},
         "request": {"id": "r", "promptTokens": 2048}}""".formatted(model);
  }

  @Test
  void nameOfAKnownModel_isItsGroups_withShapesAndBytes() {
    JsonNode plan = JsonMapper.shared().readTree(plan(hybrid("{\"name\": \"gemma-3-27b\"}"), "--json").out());
    JsonNode sliding = plan.get("prefill").get("groups").get(1);
    assertThat(sliding.get("windowTokens").asInt()).isEqualTo(1024);
    assertThat(sliding.get("layers")).hasSize(52);
    assertThat(sliding.get("bytesPerToken").asLong()).isEqualTo(52L * 2 * 16 * 128 * 2);
    assertThat(plan.get("prefill").get("groups").get(0).get("bytesPerToken").asLong())
        .isEqualTo(10L * 2 * 16 * 128 * 2);
    // All tokens of 10 layers, and those of the window of 52: from token 1,024 on, which is a border of blocks
    assertThat(bytes(plan)).isEqualTo((2048L * 10 + 1024 * 52) * 2 * 16 * 128 * 2);
    assertThat(plan(hybrid("{\"name\": \"gemma-3-27b\"}")).out())
        .contains("10 layers of 16 KV heads in blocks of 16 tokens (NHD), 80.0 KiB a token; 52 layers of 16 KV heads in"
            + " blocks of 16 tokens (NHD), window of 1,024 tokens, 416 KiB a token");
  }

  @Test
  void state_movesOnce_whateverThePromptIs() {
    JsonNode plan = JsonMapper.shared().readTree(plan(hybrid("{\"name\": \"qwen3-next-80b-a3b\"}"), "--json").out());
    assertThat(bytes(plan)).isEqualTo(2048L * 12 * 2 * 2 * 256 * 2 + 36L * (3 * 8192 + 32 * 128 * 128) * 2);
    assertThat(plan(hybrid("{\"name\": \"qwen3-next-80b-a3b\"}")).out())
        .contains("36 layers of 32 KV heads, a state of 37.7 MiB (NHD)");
    assertThat(plan(hybrid("""
        {"groups": [{"layers": [0, 1], "kvHeads": 4, "headDim": 192, "valueDim": 128},
          {"layers": [2, 3], "planes": "convolution 4x24 + state 4x256 fp32", "state": true}]}""")).out())
        .contains(
            "2 layers of 4 KV heads in blocks of 16 tokens (NHD), 5.00 KiB a token; 2 layers of 4 KV heads, a state");
  }

  private static long bytes(JsonNode plan) {
    return plan.get("transfers").valueStream().mapToLong(one -> one.get("bytes").asLong()).sum();
  }

  @Test
  void mixedTypes_areMovedWhole_fromOneRank() {
    JsonNode plan = JsonMapper.shared().readTree(plan(hybrid("{\"name\": \"deepseek-v3.2\"}"), "--json").out());
    // Each of two decode ranks keeps all latents
    assertThat(bytes(plan)).isEqualTo(2L * 2048 * 61 * (656 + 132));
  }

  @Test
  void refusedSides_areNamedWithBothValues() {
    CommandLineRun run = plan("""
        {"model": {"layers": 2, "kvHeads": 8}, "prefill": {"tp": 16, "dcp": 4}, "decode": {"tp": 8},
         "request": {"id": "r", "promptTokens": 40}}""");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("dcp must divide tp / kvHeads", "was prefill.dcp 4, prefill.tp / kvHeads 16 / 8");
    CommandLineRun types = plan("""
        {"model": {"layers": 2, "kvHeads": 8}, "prefill": {"type": "fp8_e4m3"}, "decode": {},
         "request": {"id": "r", "promptTokens": 40}}""");
    assertThat(types.err()).contains(
        "groups[0].planes[0].type must be equal on both sides (was prefill.groups[0].planes[0].type FP8_E4M3, "
            + "decode.groups[0].planes[0].type BF16)");
  }

  @Test
  void refusedCaseAmongSeveral_keepsItsLineInJson() {
    String sides = """
        {"input": {"prefill": {"tp": %d, "pcp": 1, "dcp": 2, "base_port": 1, "block_size": 16},
         "decode": {"tp": 2, "pcp": 1, "dcp": 1, "block_size": 16}, "num_kv_heads": 2, "mla": false,
         "num_prompt_blocks_p_units": 1, "prefix_cached_blocks_p_units": 0}}""";
    CommandLineRun run = plan("[" + sides.formatted(2) + "," + sides.formatted(4) + "]", "--json");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out().lines()).hasSize(2);
    JsonNode refused = JsonMapper.shared().readTree(run.out().lines().findFirst().orElseThrow());
    assertThat(refused.get("number").asInt()).isZero();
    assertThat(refused.at("/refused/field").asString()).isEqualTo("prefill.dcp");
    assertThat(refused.at("/refused/value").asInt()).isEqualTo(2);
    assertThat(refused.at("/refused/otherField").asString()).isEqualTo("prefill.tp / kvHeads");
    assertThat(refused.at("/refused/message").asString()).startsWith("dcp must divide tp / kvHeads");
  }

  @Test
  void recordedCase_isPlanned() {
    CommandLineRun run = plan("""
        {"input": {"req_id": "x", "prefill_tp": 4, "decode_tp": 2, "prefill_pp": 1, "num_kv_heads": 4, "mla": false},
         "chosen_groups": [0]}""");
    assertThat(run.out()).contains("decode pp0.cp0.tp0 waits for 2 completions: pp0.cp0.tp0, pp0.cp0.tp1");
  }

  @Test
  void recordedCaseWithoutSides_isAnswered() {
    assertThat(plan("{\"input\": {\"num_layers\": 61, \"pp_size\": 2, \"partition\": null}}").out())
        .contains("\"output\":[[0,31],[31,61]]");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          ''                     | must hold at least one case
          not JSON               | must be JSON
          {"cases": []}          | must hold at least one case
          {"a": 1}               | case must be a plan's input or of a known kind
          {"model": 3, "prefill": {}, "decode": {}, "request": {}} | model must be an object (was 3)
          {"model": {}, "prefill": {}, "decode": {}, "request": {"id":"r"}} | model.layers must be an integer
          {"model": {"layers": 1, "kvHeads": 1}, "decode": {}, "request": {}} | prefill must be given (was left out)
          {"input": {"kv_role": "r", "local_tp": 1, "extra": 5, "mla": 0}} | input.mla must be true or false (was 0)
          """)
  void badInput_isADataError(String input, String reason) {
    CommandLineRun run = plan(input);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(65);
    assertThat(run.err()).contains(reason).doesNotContain("ackson", "Unexpected", "coerce");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          prefill | tp           | 0      | prefill.tp must be > 0 (was 0)
          prefill | tp           | 70000  | prefill: tp × pp × pcp must be <= 65536 (was 70000 × 2 × 1)
          prefill | TP           | 2      | prefill.TP must be one of the fields blockTokens, dcp
          prefill | order        | "hdn"  | prefill.order must be one of nhd, hnd (was hdn)
          prefill | stageLayers  | [1, 1] | prefill.stageLayers must be 2 numbers >= 0, one a stage, that add up to
          decode  | blockTokens  | -1     | decode.blockTokens must be in [0, 1048576] (was -1)
          model   | kvHeads      | 0      | model.kvHeads must be > 0 (was 0)
          model   | type         | "fp9"  | model.type must be one of bf16, fp16, fp32
          model   | draftLayers  | "one"  | model.draftLayers must be an integer (was "one")
          model   | groups       | []     | model.groups must not be empty (was [])
          request | cachedTokens | 5      | request.cachedTokens must be <= promptTokens 4 (was 5)
          request | id           | 7      | request.id must be a text (was 7)
          """)
  void brokenField_isNamedWithItsRuleAndValue(String object, String field, String value, String message) {
    ObjectNode input = (ObjectNode) JsonMapper.shared().readTree("""
        {"model": {"layers": 3, "kvHeads": 1}, "prefill": {"pp": 2}, "decode": {},
         "request": {"id": "r", "promptTokens": 4}}""");
    ((ObjectNode) input.path(object)).set(field, JsonMapper.shared().readTree(value));
    CommandLineRun run = plan(input.toString());
    assertThat(run.exitCode()).as(run.err()).isEqualTo(65);
    assertThat(run.err()).startsWith("plan: standard input: " + message);
  }

  @Test
  void options_stateAKnownModelAndRanks_withoutADocument() {
    CommandLineRun run =
        plan("not read", "--prefill-tp", "8", "--decode-tp", "2", "--model", "llama-3.1-8b", "--prompt-tokens", "100");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("100 prompt tokens", "TP 8", "32 layers of 8 KV heads",
        "decode pp0.cp0.tp1 waits for 4 completions: pp0.cp0.tp4");
    CommandLineRun document = plan("""
        {"model": "llama-3.1-8b", "prefill": {"tp": 8}, "decode": {"tp": 2}, "request": {"promptTokens": 100}}""");
    assertThat(document.out()).isEqualTo(run.out());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--model llama-3.1-8b --prefill-tp 8 | 2 | --decode-tp must be given with --model, --prefill-tp (was left out)",
    "--decode-tp 8 | 2 | --model, --prefill-tp must be given with --decode-tp (was left out)",
    "--model lama-3.1-8b --prefill-tp 8 --decode-tp 2 | 2 | --model must be a model that `penstock models` lists, such "
        + "as llama-3.1-8b (was lama-3.1-8b)",
    "--model llama-3.1-8b --prefill-tp 0 --decode-tp 2 | 2 | --prefill-tp must be > 0 (was 0)",
    "--model llama-3.1-8b --prefill-tp 8 --decode-tp 2 --prompt-tokens 20000000 | 65 | options: request.promptTokens "
        + "must be in [0, 16777216] (was 20000000)",
    "--check a.json --decode-tp 2 | 2 | --decode-tp must be left out with --check",
  })
  void optionsThatAreMissingOrWrong_areNamed(String options, int code, String message) {
    CommandLineRun run = plan("", options.split(" "));
    assertThat(run.exitCode()).as(run.err()).isEqualTo(code);
    assertThat(run.err()).startsWith("plan: " + message);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{} | model, prefill, decode, request must be given (was left out)",
    "{\"model\": \"llama-3.1-8b\", \"prefill\": {}} | decode, request must be given (was left out)",
    "{\"model\": \"lama-3.1-8b\", \"prefill\": {}, \"decode\": {}, \"request\": {}} | model must be a model that "
        + "'penstock models' lists, such as llama-3.1-8b (was lama-3.1-8b)",
    "{\"model\": {\"name\": \"mine\"}, \"prefill\": {}, \"decode\": {}, \"request\": {}} | model.name must be "
        + "a model that 'penstock models' lists, or layers and a shape must be given (was mine)",
  })
  void whatIsMissing_isSaidByName(String input, String message) {
    CommandLineRun run = plan(input);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(65);
    assertThat(run.err()).isEqualTo("plan: standard input: " + message.replace('\'', '`') + "\n");
  }

  @Test
  void contextOfTenMillionTokens_isPlanned() {
    CommandLineRun run = plan(INPUT.replace("300", "10000000"));
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("9,999,984");
  }

  @Test
  void brokenCaseAmongSeveral_isNamedByItsNumber() {
    CommandLineRun run = plan("""
        [{"input": {"num_layers": 6, "pp_size": 2, "partition": null}},
         {"input": {"num_layers": "x", "pp_size": 2, "partition": null}}]""");
    assertThat(run.exitCode()).isEqualTo(65);
    assertThat(run.err()).isEqualTo("plan: standard input: case 1: input.num_layers must be an integer (was \"x\")\n");
  }

  @Test
  void pictureOfSeveralCases_isMisuse() {
    CommandLineRun run = plan("[" + INPUT + "," + INPUT + "]", "--svg", folder.resolve("plan.svg").toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--svg must be left out unless standard input has one case (was 2 cases)");
  }

  @Test
  void check_ofRightCases_exitsWithZero() throws IOException {
    CommandLineRun run = plan("", "--check", file("a.json", PORTS.formatted(20003)));
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("a.json: 2 cases (ports of ranks 2), 0 differences");
  }

  @Test
  void check_ofAWrongCase_printsItsNumber_andExitsWithOne() throws IOException {
    CommandLineRun run = plan("", "--check", file("a.json", PORTS.formatted(20004)));
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("case 1: handshake_port is recorded as 20004, the rule gives 20003",
        "2 cases (ports of ranks 2), 1 difference");
  }

  @Test
  void check_inJson_hasDifferencesByCase() throws IOException {
    String wrong = file("a.json", PORTS.formatted(20004));
    CommandLineRun run = plan("", "--json", "--check", wrong);
    JsonNode check = JsonMapper.shared().readTree(run.out());
    JsonNode difference = check.get("differences").get(0);
    assertThat(difference.get("number").asInt()).isEqualTo(1);
    assertThat(difference.get("path").asString()).isEqualTo("handshake_port");
    assertThat(difference.get("recorded").asInt()).isEqualTo(20004);
    assertThat(difference.get("computed").asInt()).isEqualTo(20003);
    assertThat(check.get("faults")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"not JSON", "[]", "{}", "3", "{\"cases\": [1, 2]}", "{\"cases\": [{\"what\": 1}]}",
    "{\"cases\": [{\"input\": {\"kv_port\": \"x\", \"dp_rank\": 1, \"tp_rank\": 2}, \"base_port\": 1}]}",
    "{\"cases\": [{\"input\": {\"num_layers\": 61, \"pp_size\": 2, \"partition\": null}}]}",
    "{\"cases\": [{\"input\": {\"num_layers\": 99999999, \"pp_size\": 2}, \"output\": []}]}"})
  void check_ofWhatItCannotCheck_exitsWithTwo(String content) throws IOException {
    CommandLineRun run = plan("", "--check", file("a.json", content), file("b.json", PORTS.formatted(20003)));
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(2);
    assertThat(run.err()).contains("a.json").doesNotContain("(was )", "json,  ", "json, must");
    assertThat(run.out()).contains("b.json: 2 cases");
  }

  @Test
  void check_inJson_namesTheFieldOfAFault() throws IOException {
    String malformed = file("a.json", PORTS.formatted(20003).replace("\"tp\": 8", "\"tp\": \"x\""));
    CommandLineRun run = plan("", "--json", "--check", malformed);
    assertThat(run.exitCode()).isEqualTo(2);
    JsonNode fault = JsonMapper.shared().readTree(run.out()).get("faults").get(0);
    assertThat(fault.get("number").asInt()).isZero();
    assertThat(fault.get("field").asString()).isEqualTo("input.tp");
    assertThat(fault.get("value").asString()).isEqualTo("\"x\"");
  }

  @Test
  void page_listsEveryKindOfCase() throws IOException {
    String page = Files.readString(Path.of("../../pipeline/docs/disaggregation.md"));
    assertThat(CaseRules.kinds()).allSatisfy(kind -> assertThat(page).contains("\n| " + kind + " | "));
  }

  @Test
  void check_ofAMissingFile_exitsWithTwo() {
    CommandLineRun run = plan("", "--check", folder.resolve("none.json").toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("plan: " + folder.resolve("none.json") + " must exist (no such file)\n");
    assertThat(run.out()).as("no figures of what was not read").isEmpty();
  }

  @Test
  void check_ofAFileWithoutCases_saysSoOnce_andNoDifferences() throws IOException {
    String empty = file("empty.json", "");
    CommandLineRun run = plan("", "--check", empty);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("plan: " + empty + " must ").contains("(was ").doesNotContain("(was )");
    assertThat(run.out()).isEmpty();
  }
}
