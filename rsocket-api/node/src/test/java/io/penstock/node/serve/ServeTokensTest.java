package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.PrefixHasher;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.kvevents.KvIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `put --token-ids` at a node, and the KV events that a router then reads over ZeroMQ.
@Timeout(60)
final class ServeTokensTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BLOCK_TOKENS = 16;
  private static final String YAML = """
      listen.port: 0
      admin.port: 0
      dram: 16MiB
      model: penstock-demo
      layers: 1
      kv.heads: 1
      head.dim: 32
      kv.events.port: 0
      kv.events.replay.port: 0
      kv.events.layout: %s
      kv.events.tokens: %d
      """;

  @TempDir
  private Path folder;

  private NodeConfig config(String layout, int tokens) throws IOException {
    return NodeConfig.resolve(Files.writeString(folder.resolve("node.yaml"), YAML.formatted(layout, tokens)), Map.of(),
        Map.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"map", "array", "map_batch"})
  void events_haveTokensAndParent_ofBlocksPutWithThem(String layout) throws Exception {
    NodeConfig config = config(layout, 100);
    Node node = Objects.requireNonNull(Node.start(config).block(SOON));
    Ready.KvEvents stream = Ready.of(node, config).kvEvents().getFirst();
    try (KvIndex index = new KvIndex(stream.port(), Objects.requireNonNull(stream.replayPort()), stream.topic())) {
      put(node, config, "1-70", "--token-ids"); // 6 tokens fill no block
      Map<Long, String> wanted = chain(70);
      assertThat(wanted).hasSize(4);
      assertThat(awaited(index, 4)).isEqualTo(wanted);

      put(node, config, "1-96", "--token-ids"); // the first 4 blocks are there
      assertThat(awaited(index, 6)).isEqualTo(chain(96));

      put(node, config, "500-531");
      assertThat(awaited(index, 8)).containsAllEntriesOf(chain(96)).containsValue("null []");
      assertThat(metric(node)).contains("penstock_kv_events_tokens_blocks{tier=\"dram\"} 6.0");
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void node_withoutTheSetting_publishesNoTokens() throws Exception {
    NodeConfig config = config("map", 0);
    Node node = Objects.requireNonNull(Node.start(config).block(SOON));
    Ready.KvEvents stream = Ready.of(node, config).kvEvents().getFirst();
    try (KvIndex index = new KvIndex(stream.port(), Objects.requireNonNull(stream.replayPort()), stream.topic())) {
      put(node, config, "1-64", "--token-ids");
      assertThat(awaited(index, 4).values()).containsOnly("null []");
      assertThat(metric(node)).contains("penstock_kv_events_tokens_blocks{tier=\"dram\"} 0.0");
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void tokenIds_withoutTokens_areRefused() {
    assertThat(CommandLineRun.of("put", "--token-ids", "--trace-id", "1-4").err())
        .contains("--token-ids must come with --tokens (was without)");
  }

  private void put(Node node, NodeConfig config, String tokens, String... more) throws IOException {
    int last = Integer.parseInt(tokens.substring(tokens.indexOf('-') + 1));
    int first = Integer.parseInt(tokens.substring(0, tokens.indexOf('-')));
    int blocks = (last - first + 1) / BLOCK_TOKENS;
    Path bytes = Files.write(folder.resolve("kv.bin"), new byte[blocks * config.space().layout().blockBytes()]);
    List<String> line = new ArrayList<>(List.of("put", "--connect", "127.0.0.1:" + node.port(), "--model",
        "penstock-demo", "--layers", "1", "--kv-heads", "1", "--head-dim", "32", "--tokens", tokens));
    line.addAll(List.of(more));
    line.add(bytes.toString());
    CommandLineRun run = CommandLineRun.of(line.toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
  }

  /// Parents and tokens of the blocks of the prompt 1, 2, … `last`, computed from the definition of a hash.
  private static Map<Long, String> chain(int last) {
    Map<Long, String> chain = new LinkedHashMap<>();
    BlockHash parent = BlockHash.ROOT;
    for (int from = 1; from + BLOCK_TOKENS - 1 <= last; from += BLOCK_TOKENS) {
      int[] ids = IntStream.range(from, from + BLOCK_TOKENS).toArray();
      BlockHash hash = new PrefixHasher(List.of()).next(parent, ids);
      chain.put(hash.low(), parent.low() + " " + Arrays.toString(ids));
      parent = hash;
    }
    return chain;
  }

  private static Map<Long, String> awaited(KvIndex index, int blocks) {
    long end = System.nanoTime() + SOON.toNanos();
    while (index.media().size() < blocks) {
      assertThat(System.nanoTime()).as("%s", index.media()).isLessThan(end);
      index.read(0);
      index.replay(); // the subscription may have come after the last batch
    }
    return index.tokens();
  }

  private static String metric(Node node) throws Exception {
    return AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body();
  }
}
