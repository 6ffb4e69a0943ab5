package io.penstock.resp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.flow.ValueStore;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.serve.Node;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.KnownBlocks;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.netty.resources.LoopResources;

/// What an indexer is told of the values of a door, before a restart of the node and after it.
@Timeout(300)
final class RestartEventsTest {
  private static final Duration SOON = Duration.ofSeconds(120);
  private static final int PART = 66_048;
  private static final CacheSpace SPACE = ValueStore.space("values", PART, "");
  private static final int KEYS = 60;
  private static final long SEED = 20_261_130;

  @TempDir
  private Path folder;
  private final LoopResources loops = LoopResources.create("indexer", 1, true);

  @AfterEach
  void end() {
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  /// Follows the events of a node.
  private final class Indexer implements AutoCloseable {
    final SlabArena arena = new SlabArena("indexer", SPACE.layout(), 16, 8);
    final KnownBlocks told = new KnownBlocks();
    final KvClient client;
    final ValueStore store;
    final Disposable following;

    Indexer(Node node) {
      client = requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()),
          loops), KvClientOptions.defaults(), SPACE, arena, new ByteBudget("indexer", 16L << 20, 64)).block(SOON));
      store = new ValueStore(new RemoteTier(client, SPACE));
      following = client.follow().subscribe(event -> {
        synchronized (told) {
          told.apply(event);
        }
      });
    }

    /// Names whose values it was told of.
    Set<String> names() {
      Set<BlockKey> visible;
      synchronized (told) {
        visible = told.isComplete() ? told.visible() : Set.of();
      }
      Set<String> names = new HashSet<>();
      for (int i = 0; i < KEYS; i++) {
        if (visible.contains(store.headKey("k" + i))) {
          names.add("k" + i);
        }
      }
      return names;
    }

    long sequence() {
      synchronized (told) {
        return told.sequence();
      }
    }

    @Override
    public void close() {
      following.dispose();
      client.close().block(SOON);
      arena.close();
    }
  }

  private Node start() throws IOException {
    Path file = Files.writeString(folder.resolve("node.yaml"), """
        listen.port: 0
        admin.port: 0
        resp: 127.0.0.1:0
        resp.part.bytes: %d
        dram: 4MiB
        ssd: 64MiB
        ssd.dir: %s
        ssd.segment.bytes: 4MiB
        """.formatted(PART, folder.resolve("ssd")));
    return requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
  }

  private static RespClient connect(Node node) throws IOException {
    String address = node.doors().getFirst().address();
    return new RespClient(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
  }

  private static void change(RespClient client, Random random) throws IOException {
    String name = "k" + random.nextInt(KEYS);
    if (random.nextInt(5) > 0) {
      byte[] value = new byte[1 + random.nextInt(250_000)];
      random.nextBytes(value);
      assertThat(client.call("SET", name, value)).isEqualTo("+OK");
    } else {
      assertThat(client.call("DEL", name)).isIn(":0", ":1");
    }
  }

  private static Set<String> found(RespClient client) throws IOException {
    Set<String> found = new HashSet<>();
    for (int i = 0; i < KEYS; i++) {
      if (client.bulk("GET", "k" + i) != null) {
        found.add("k" + i);
      }
    }
    return found;
  }

  private static void assertTold(Indexer indexer, RespClient client) throws IOException {
    Set<String> found = found(client);
    assertThat(found).isNotEmpty();
    Eventually.holds("events tell the values that are there, seed " + SEED, () -> indexer.names().equals(found),
        () -> "told " + indexer.names() + ", found " + found);
  }

  /// The number of HELLO from its bit 31 on.
  private static long startInHello(RespClient client) throws IOException {
    assertThat(client.call("HELLO", "2")).startsWith("*14");
    long id = 0;
    for (int i = 0; i < 7; i++) {
      String name = client.text(Integer.parseInt(client.line().substring(1)));
      client.read(2);
      String header = client.line();
      if (header.startsWith("$")) {
        client.read(Integer.parseInt(header.substring(1)) + 2);
      } else if (name.equals("id")) {
        id = Long.parseLong(header.substring(1));
      }
    }
    return id >> 31;
  }

  private static String startInInfo(RespClient client) throws IOException {
    return new String(requireNonNull(client.bulk("INFO", "server")), StandardCharsets.UTF_8)
        .replaceAll("(?s).*penstock_boot:(\\w+).*", "$1");
  }

  @Test
  void events_tellEveryChange_beforeARestartAndAfterIt_andEachStartShows() throws IOException {
    Random random = new Random(SEED);
    Node first = start();
    long generation;
    long sequence;
    String info;
    long hello;
    try (Indexer indexer = new Indexer(first);
        RespClient client = connect(first);
        RespClient other = connect(first)) {
      for (int i = 0; i < 150; i++) {
        change(client, random);
      }
      assertTold(indexer, client);
      generation = indexer.client.generation();
      sequence = indexer.sequence();
      info = startInInfo(client);
      hello = startInHello(client);
      assertThat(startInInfo(other)).isEqualTo(info);
      assertThat(startInHello(other)).isEqualTo(hello);
    } finally {
      first.close().block(SOON);
    }

    Node second = start();
    try (Indexer indexer = new Indexer(second); RespClient client = connect(second)) {
      assertThat(startInInfo(client)).isNotEqualTo(info);
      assertThat(startInHello(client)).isNotEqualTo(hello);
      assertThat(indexer.client.generation()).isNotEqualTo(generation);
      assertThatThrownBy(() -> indexer.client.events(sequence, generation).blockFirst(SOON))
          .as("events of the start before do not go on").isInstanceOf(RuntimeException.class)
          .isNotInstanceOf(IllegalStateException.class);
      assertTold(indexer, client);
      for (int i = 0; i < 60; i++) {
        change(client, random);
      }
      assertTold(indexer, client);
    } finally {
      second.close().block(SOON);
    }
  }
}
