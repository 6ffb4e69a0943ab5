package io.penstock.examples.clients;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The small clients in other languages, as processes beside a real node. A language that is not installed is skipped.
@Timeout(60)
final class ClientsTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Path CLIENTS = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("clients");

  private static final String BLOCKS = "penstock has blocks of 16 tokens, 65536 bytes each";

  private Node node;

  enum Language {
    PYTHON("python", "python3", List.of("-m", "unittest", "-q"), "example.py", "[None] [] 0", """
        import sys
        from penstock import Node, PenstockError, Space
        host, port = sys.argv[1].split(":")
        space = Space("other", 1, 16, [("VALUE", "INT8", 1, 64)], salt="x")
        try:
            Node(host, int(port), space)
        except PenstockError as error:
            print(hex(error.code), error.values["field"], error.values["actual"], error.values["store"])
        with Node(host, int(port)) as node:
            print(node.get([bytes(16)]), node.put(node.space.hashes([]), []), node.match([]))
        """, "-c"),
    JS("js", "node", List.of("penstock.test.mjs"), "example.mjs", "[ null ] [] 0", """
        import { Node, Space } from "./penstock.mjs";
        const [host, port] = process.argv[1].split(":");
        const planes = [{ kind: "VALUE", type: "INT8", heads: 1, width: 64 }];
        await Node.connect(host, Number(port), { space: new Space({ model: "other", layers: 1, tokens: 16, planes }) })
          .catch(({ code, values: { field, actual, store } }) =>
            console.log(`0x${code.toString(16)}`, field, actual, store));
        const node = await Node.connect(host, Number(port));
        console.log(await node.get([Buffer.alloc(16)]), await node.put([], []), await node.match([]));
        node.close();
        """, "--input-type=module", "-e");

    private final Path folder;
    private final String program;
    private final List<String> tests;
    private final String example;
    private final String miss;
    private final String refusals;
    private final List<String> inline;

    Language(String folder, String program, List<String> tests, String example, String miss, String refusals,
        String... inline) {
      this.folder = CLIENTS.resolve(folder);
      this.program = program;
      this.tests = tests;
      this.example = example;
      this.miss = miss;
      this.refusals = refusals;
      this.inline = List.of(inline);
    }

    private void requireInstalled() {
      assumeTrue(Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
          .anyMatch(folder -> Files.isExecutable(Path.of(folder, program))), program + " is not installed");
    }

    /// What it says on standard output; it must end with 0.
    private String run(List<String> arguments) throws IOException, InterruptedException {
      requireInstalled();
      List<String> command = new ArrayList<>(List.of(program));
      command.addAll(arguments);
      ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
      builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).as(said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
      } finally {
        process.destroyForcibly();
      }
    }
  }

  /// A granule has 16 KiB and a slice 4 KiB, so that rows are cut.
  @BeforeEach
  void start() {
    node = start(Map.of());
  }

  private static Node start(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> settings = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "off",
        NodeSettings.DRAM, "20 blocks", NodeSettings.SLICE_BYTES, "4KiB", LayoutSettings.LAYERS, "2",
        LayoutSettings.BLOCK_TOKENS, "16", LayoutSettings.KV_HEADS, "8", LayoutSettings.HEAD_DIM, "64"));
    settings.putAll(more);
    return requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), settings)).block(SOON));
  }

  @AfterEach
  void stop() {
    node.close().block(SOON);
  }

  private String address() {
    return "127.0.0.1:" + node.port();
  }

  @ParameterizedTest
  @EnumSource
  void example_putsBlocksAndGetsThemBack(Language language) throws Exception {
    assertThat(language.run(List.of(language.example, address())).lines()).containsExactly(BLOCKS,
        "before: 0 of 3 blocks", "put: VOLATILE, VOLATILE, VOLATILE", "after: 3 of 3 blocks", "equal: true");
  }

  /// Both examples have equal prompts and blocks, so the second one finds what the first one has put.
  @Test
  void blocksOfOneLanguage_areThoseOfTheOther() throws Exception {
    Language.JS.requireInstalled();
    Language.PYTHON.run(List.of(Language.PYTHON.example, address()));

    assertThat(Language.JS.run(List.of(Language.JS.example, address())).lines()).containsExactly(BLOCKS,
        "before: 3 of 3 blocks", "put: {\"present\":true}, {\"present\":true}, {\"present\":true}",
        "after: 3 of 3 blocks", "equal: true");
  }

  @ParameterizedTest
  @EnumSource
  void refusal_hasItsCodeAndValues_andAMissIsNoError(Language language) throws Exception {
    List<String> arguments = new ArrayList<>(language.inline);
    arguments.addAll(List.of(language.refusals, address()));

    assertThat(language.run(arguments).lines()).containsExactly("0x1004 space.model other -400", language.miss);
  }

  @Test
  void clientInPython_looksUpRemovesAndHasFigures() throws Exception {
    assertThat(Language.PYTHON.run(List.of("-c", """
        import sys
        from penstock import Node
        with Node.at(sys.argv[1]) as node:
            hashes = node.space.hashes(range(48))
            node.put(hashes[1:], [bytes(node.space.block_bytes)] * 2)
            print(node.exists(hashes), node.match(hashes), node.stat()["stat"]["blocks"])
            print(node.remove(hashes), node.exists(hashes), node.stat()["stat"]["blocks"])
        """, address())).lines()).containsExactly("[False, True, True] 0 2",
        "[False, True, True] [False, False, False] 0");
  }

  @Test
  void exampleOfTheReadmeInPython_printsWhatTheReadmeSays(@TempDir Path folder) throws Exception {
    assumeTrue(Files.isWritable(Path.of("/dev/shm")), "there is no /dev/shm");
    String readme = Files.readString(CLIENTS.resolve("python/README.md"));
    String example = readme.substring(readme.indexOf("```python\n") + 10, readme.indexOf("```\n\nRun in this folder"));
    Path socket = folder.resolve("node.sock");
    Node other = start(Map.of(TransportSettings.SOCKET, socket.toString(), TransportSettings.REGIONS, "/dev/shm"));
    try {
      String said = Language.PYTHON.run(List.of("-c", example.replace("/tmp/penstock.sock", socket.toString())));

      assertThat(said.lines()).hasSize(3).allSatisfy(line -> assertThat(readme).contains("`" + line + "`"));
    } finally {
      other.close().block(SOON);
    }
  }

  @ParameterizedTest
  @EnumSource
  void ownTests_ofTheClient_pass(Language language) throws Exception {
    language.run(language.tests);
  }
}
