package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.content.KvPattern;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// What a node records: of all its spaces, without what is secret; and what happened last.
@Timeout(120)
final class RecordedNodeTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final String SALT = "a-salt-that-no-reader-may-see";
  private static final String SPACES = """
      listen.port: 0
      admin.port: 0
      dram: 256KiB
      ssd: 256KiB
      ssd.dir: %s
      ssd.segment.bytes: 1MiB
      record: %s
      reserve.blocks: 16
      window.blocks: 8
      spaces:
        wide: {model: wide, layers: 2, block.tokens: 4, kv.heads: 2, head.dim: 256, weight: 2, quota: 128KiB}
        tenant: {model: narrow, layers: 4, block.tokens: 4, kv.heads: 1, head.dim: 256, salt: %s}
      """;

  @TempDir
  private Path folder;

  private final LoopResources loops = LoopResources.create("recorded", 1, true);
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private static CacheSpace space(String model, int layers, int heads, String salt) {
    return new CacheSpace(model, BlockLayout.attention(layers, 4, heads, 256, ElementType.BF16), 0, salt);
  }

  /// A client of one space, whose blocks have bytes that follow from their keys.
  private final class Party {
    final CacheSpace space;
    final KvClient client;
    final ProducingSource source;

    Party(Node node, CacheSpace space) {
      this.space = space;
      SlabArena landed = new SlabArena("landed", space.layout(), 16, 8);
      SlabArena produced = new SlabArena("produced", space.layout(), 16, 8);
      source = new ProducingSource(produced, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
      client = Objects.requireNonNull(KvClient.connect(
          TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops),
          KvClientOptions.builder().windowBlocks(8).build(), space, landed, new ByteBudget("party", 4 << 20, 64))
          .block(SOON));
      opened.add(() -> {
        client.close().block(SOON);
        landed.close();
        produced.close();
      });
    }

    List<BlockKey> keys(int from, int to) {
      return LongStream.range(from, to).mapToObj(PrefixHasher::ofTraceId).map(space::key).toList();
    }

    Mono<Long> use(int from, int to) {
      return client.put(keys(from, to), source).then(Mono.defer(() -> Mono.using(BlockScope::new,
          scope -> client.lease(keys(Math.max(0, from - 24), to), OnMiss.SKIP, scope)
              .flatMapMany(lease -> lease.windows(8, scope)).map(window -> {
                window.forEach(each -> each.block().close());
                return window.size();
              }).count(),
          BlockScope::close)))
          .onErrorResume(TransientKvException.class, gone -> Mono.just(0L)); // a block left meanwhile: recorded, too
    }
  }

  private Node record(Path recording) throws IOException {
    Path yaml = Files.writeString(folder.resolve("node.yaml"),
        SPACES.formatted(folder.resolve("disk"), recording, SALT));
    Node node = Objects.requireNonNull(Node.start(NodeConfig.resolve(yaml, Map.of(), Map.of())).block(SOON));
    opened.add(() -> node.close().block(SOON));
    return node;
  }

  /// A client reads blocks of one space and releases them. Then a put into the other space takes their memory.
  @Test
  void aSpaceThatTakesTheMemoryOfAnother_happensAgain() throws Exception {
    Path recording = folder.resolve("recording");
    Node node = record(recording);
    Party wide = new Party(node, space("wide", 2, 2, ""));
    Party tenant = new Party(node, space("narrow", 4, 1, SALT));

    for (int round = 0; round < 4; round++) {
      tenant.use(16 * round, 16 * round + 16).block(SOON);
      wide.use(16 * round, 16 * round + 16).block(SOON);
    }
    wide.client.close().block(SOON);
    tenant.client.close().block(SOON);
    node.close().block(SOON);

    CommandLineRun played = CommandLineRun.of("replay", recording.toString());
    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    assertThat(kinds(recording)).contains(Kind.EVICTED, Kind.MOVED);
  }

  @Test
  void severalSpaces_oneWithASalt_areRecorded_andHappenAgain() throws Exception {
    Path recording = folder.resolve("recording");
    Node node = record(recording);
    Party wide = new Party(node, space("wide", 2, 2, ""));
    Party tenant = new Party(node, space("narrow", 4, 1, SALT));

    for (int round = 0; round < 10; round++) {
      Flux.merge(wide.use(8 * round, 8 * round + 8), tenant.use(8 * round, 8 * round + 8)).blockLast(SOON);
    }
    wide.client.close().block(SOON);
    tenant.client.close().block(SOON);
    node.close().block(SOON);

    CommandLineRun played = CommandLineRun.of("replay", recording.toString());
    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    assertThat(kinds(recording)).contains(Kind.EVICTED, Kind.MOVED, Kind.STORE_READ, Kind.LINK);
    assertThatNothingNames(recording, SALT);
    assertThat(CommandLineRun.of("recording", "info", recording.toString()).out()).contains("\"dram\":\"256 KiB\"",
        "\"spaces.wide.model\":\"wide\"", "\"spaces.wide.quota\":\"128 KiB\"", "\"spaces.wide.weight\":\"2\"",
        "\"spaces.tenant.model\":\"narrow\"")
        .doesNotContain("salt");
    assertThat(CommandLineRun.of("replay", recording.toString(), "--until", "1ms").out()).contains("stopped before");

    CommandLineRun copied =
        CommandLineRun.of("recording", "anonymise", recording.toString(), folder.resolve("copy").toString());
    assertThat(copied.exitCode()).as(copied.out() + copied.err()).isZero();
    try (RecordingReader copy = RecordingReader.open(folder.resolve("copy"))) {
      copy.forEachRemaining(event -> assertThat(event.text()).doesNotContain("wide", "tenant", "narrow"));
    }
    assertThat(CommandLineRun.of("recording", "info", folder.resolve("copy").toString()).out())
        .containsPattern("\"spaces\\.name-[0-9a-f]+\\.quota\":\"128 KiB\"");
  }

  private static List<Kind> kinds(Path recording) {
    List<Kind> kinds = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(event -> kinds.add(event.kind()));
    }
    return kinds;
  }

  /// The salt, and the id of its space, from which a peer could ask for blocks.
  private static void assertThatNothingNames(Path recording, String salt) throws IOException {
    String id = space("narrow", 4, 1, salt).id().toString();
    String coded = Base64.getEncoder().encodeToString(HexFormat.of().parseHex(id));
    try (RecordingReader reader = RecordingReader.open(recording)) {
      while (reader.hasNext()) {
        RecordedEvent event = reader.next();
        assertThat(event.text()).doesNotContain(salt, id, coded);
        event.keys().forEach(key -> assertThat(key.space().toString()).isNotEqualTo(id));
      }
    }
    try (Stream<Path> files = Files.walk(recording)) {
      files.filter(Files::isRegularFile).forEach(file -> assertThat(bytes(file)).doesNotContain(salt));
    }
  }

  private static String bytes(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aSignal_writesWhatHappenedLast() throws Exception {
    Path last = folder.resolve("last");
    try (NodeProcess node = NodeProcess.start(folder, Stream.concat(PatternClient.SHAPE.stream(),
        Stream.of("--dram", "1MiB", "--record-last", "60s",
            "--record-last-dir", last.toString()))
        .toArray(String[]::new))) {
      try (PatternClient client = new PatternClient(node)) {
        client.put(PatternClient.keys(0, 40)).blockLast(SOON);
        assertThat(client.read(PatternClient.keys(0, 40))).hasSize(40);
      }
      signal(node);
      while (!node.said().contains("SIGUSR2") && node.isAlive()) {
        node.pause();
      }
      assertThat(node.said()).contains("what happened last was recorded in " + last);
    }

    List<Path> saved;
    try (Stream<Path> folders = Files.list(last)) {
      saved = folders.toList();
    }
    assertThat(saved).hasSize(1);
    CommandLineRun played = CommandLineRun.of("replay", saved.getFirst().toString());
    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    assertThat(kinds(saved.getFirst())).startsWith(Kind.BEGAN, Kind.OPENED).contains(Kind.STORED, Kind.WINDOW);
  }

  private static void signal(NodeProcess node) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-USR2", "" + node.pid()).start();
    assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void everythingAndWhatHappenedLast_areNotRecordedTogether() {
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of("PENSTOCK_RECORD", folder.resolve("all").toString(),
        "PENSTOCK_RECORD_LAST", "1m"), Map.of())).isInstanceOf(ConfigException.class)
        .hasMessageContaining("record.last must be none with record");
  }

  @ParameterizedTest
  @CsvSource({"PENSTOCK_RECORD_SIZE,1GiB,record.size,record", "PENSTOCK_RECORD_AGE,1h,record.age,record",
    "PENSTOCK_RECORD_FULL,wait,record.full,record", "PENSTOCK_RECORD_PAYLOADS,true,record.payloads,record",
    "PENSTOCK_RECORD_LAST_DIR,here,record.last.dir,record.last"})
  void settingsThatWouldBeIgnored_areRefused(String variable, String value, String setting, String other) {
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(variable, value), Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("%s must be left out without %s (".formatted(setting, other));
  }
}
