package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.CacheSpace;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelPreset;
import io.penstock.wire.protocol.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A node of a model whose layers differ: a space for each KV group, over sockets, by the commands of a client.
@Timeout(60)
final class ServeGroupsTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final String GROUPS = "full: layers 3-7/4, key 2x32 + value 2x16; sliding: layers 0 4, window 40,"
      + " key 1x16 + value 1x16; state: layers 1-2 5-6, state 32, convolution 2x8 + state 2x64 fp32";
  private static final String FILE = """
      listen.port: 0
      admin.port: 0
      dram: 8MiB
      reserve.blocks: 64
      window.blocks: 16
      model: hybrid
      kv.groups:
        full: layers 3-7/4, key 2x32 + value 2x16
        sliding: layers 0 4, window 40, key 1x16 + value 1x16
        state: layers 1-2 5-6, state 32, convolution 2x8 + state 2x64 fp32
      """;

  @TempDir
  private Path folder;

  private final List<Node> nodes = new ArrayList<>();

  private NodeConfig config(String yaml) throws IOException {
    return NodeConfig.resolve(Files.writeString(folder.resolve("node.yaml"), yaml), Map.of(), Map.of());
  }

  private Node start() throws IOException {
    Node node = Objects.requireNonNull(Node.start(config(FILE)).block(SOON));
    nodes.add(node);
    return node;
  }

  @AfterEach
  void end() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private static CommandLineRun run(Node node, String command, String... more) {
    return CommandLineRun.of(Stream.concat(
        Stream.of(command, "--connect", "127.0.0.1:" + node.port(), "--model", "hybrid", "--kv-groups", GROUPS),
        Stream.of(more)).toArray(String[]::new));
  }

  private Path prompt(int blocks, int blockBytes) throws IOException {
    byte[] bytes = new byte[blocks * blockBytes];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31 + i / 251);
    }
    return Files.write(folder.resolve("blocks-" + blockBytes), bytes);
  }

  private Path put(Node node, String group, int blocks, int blockBytes, String ids) throws IOException {
    Path file = prompt(blocks, blockBytes);
    CommandLineRun put = run(node, "put", "--kv-group", group, "--trace-id", ids, file.toString());
    assertThat(put.exitCode()).as(put.err()).isZero();
    return file;
  }

  /// Blocks of 16 tokens: 2 layers x (2 x 32 + 2 x 16) x 2 B, and 2 x 2 x 16 x 2 B; a state of 4 layers x (16 x 2 +
  /// 128 x 4) B.
  @Test
  void eachGroup_isServed_andMatchReportsWhereAllCanContinue() throws Exception {
    Node node = start();
    Path full = put(node, "full", 8, 16 * 2 * 96 * 2, "0-7");
    put(node, "sliding", 3, 16 * 2 * 32 * 2, "5-7");
    put(node, "state", 2, 4 * 544, "3,5");

    Path copy = folder.resolve("copy");
    CommandLineRun get = run(node, "get", "--kv-group", "full", "--trace-id", "0-7", "--output", copy.toString());
    assertThat(get.exitCode()).as(get.err()).isZero();
    assertThat(copy).hasSameBinaryContentAs(full);

    CommandLineRun match = run(node, "match", "--trace-id", "0-7", "--json");
    assertThat(match.exitCode()).as(match.err()).isZero();
    JsonNode answer = JsonMapper.shared().readTree(match.out());
    assertThat(answer).isEqualTo(JsonMapper.shared().readTree("""
        {"tokens": 128, "resumable": 0, "groups": [
          {"name": "full", "keys": 8, "prefix": 8, "present": 8, "blocks": 0},
          {"name": "sliding", "keys": 8, "prefix": 0, "present": 3, "blocks": 0},
          {"name": "state", "keys": 4, "prefix": 0, "present": 2, "blocks": 0}]}"""));

    put(node, "state", 1, 4 * 544, "7");
    assertThat(run(node, "match", "--trace-id", "0-7").out()).isEqualTo("""
        all groups can continue after 128 of 128 tokens
        full: prefix 8 of 8, present 8; needs 8 blocks
        sliding: prefix 0 of 8, present 3; needs 3 blocks
        state: prefix 0 of 4, present 3; needs 1 block
        """);
  }

  @Test
  void clientOfAnotherWindow_isAnotherSpace() throws Exception {
    Node node = start();
    CommandLineRun other = CommandLineRun.of("match", "--connect", "127.0.0.1:" + node.port(), "--model", "hybrid",
        "--kv-groups", GROUPS.replace("window 40", "window 48"), "--kv-group", "sliding", "--trace-id", "0");
    assertThat(other.exitCode()).isNotZero();
    assertThat(other.err()).contains("space must be one of full ");
    CommandLineRun none = run(node, "get", "--trace-id", "0", "--discard");
    assertThat(none.err()).contains("kv.group must be one of full, sliding, state with kv.groups");
  }

  @Test
  void blocksOfEveryListedModel_fitTheSlicesOfANodeAtItsDefaults() {
    for (ModelPreset preset : ModelPreset.ALL) {
      NodeConfig config = NodeConfig.resolve(null, Map.of(),
          Map.of(LayoutSettings.MODEL, preset.name(), NodeSettings.DRAM, "64GiB"));
      Limits limits = new Limits(Math.toIntExact(config.get(NodeSettings.SLICE_BYTES)), 1, 1);
      List<CacheSpace> spaces = config.spaces().isEmpty()
          ? List.of(config.space())
          : config.spaces().stream().map(SpaceSettings::space).toList();
      assertThat(spaces).as(preset.name()).isNotEmpty()
          .allSatisfy(space -> limits.requireFits(space.layout()));
    }
  }

  @Test
  void printConfig_showsEachGroup() throws Exception {
    CommandLineRun run =
        CommandLineRun.of("serve", "--model", "qwen3-next-80b-a3b", "--dram", "8GiB", "--print-config");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains(
        "space full: blocks of qwen3-next-80b-a3b: 384 KiB = 12 layers x 16 tokens x (key 2x256 + value 2x256) x bf16,",
        "x (convolution 32x768 + state 32x16384) x bf16, hnd, a state every 512 tokens; weight 0.758");
    CommandLineRun rank = CommandLineRun.of("serve", "--model", "gpt-oss-20b", "--rank-side", "prefill",
        "--print-config");
    assertThat(rank.err()).contains("rank.side must be none with a model of several KV groups");
  }

  @Test
  void spacesOfAFile_haveOneForEachGroup_andItsPartOfWeightAndQuota() throws Exception {
    NodeConfig config = config("""
        dram: 64MiB
        spaces:
          chat: {model: gpt-oss-20b, weight: 3, quota: 16MiB}
          mine: {model: hybrid, kv.groups: {full: "2 layers, key 1x8", sliding: "6 layers, window 8, key 1x8"}, salt: x}
        """);
    assertThat(config.spaces()).extracting(space -> space.name() + " " + space.weight() + " " + space.quotaBytes())
        .containsExactly("chat-full 1.5 Optional[8388608]", "chat-sliding 1.5 Optional[8388608]",
            "mine-full 0.25 Optional.empty", "mine-sliding 0.75 Optional.empty");
    assertThat(config.spaces().getLast().space().tenantSalt()).isEqualTo("x");
  }
}
