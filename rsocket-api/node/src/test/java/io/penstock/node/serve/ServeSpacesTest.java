package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.flow.ValueStore;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.content.KvPattern;
import io.penstock.node.kvevents.KvIndex;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.client.SpaceStat;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One node, several spaces of different layouts, over sockets.
@Timeout(120)
final class ServeSpacesTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final String SPACES = """
      listen.port: 0
      admin.port: 0
      dram: 4MiB
      reserve.blocks: 64
      window.blocks: 16
      spaces:
        wide: {model: wide, layers: 2, block.tokens: 4, kv.heads: 2, head.dim: 256, weight: 2}
        narrow: {model: narrow, layers: 4, block.tokens: 4, kv.heads: 1, head.dim: 32}
        tenant: {model: narrow, layers: 4, block.tokens: 4, kv.heads: 1, head.dim: 32, salt: mine, quota: 512KiB}
        values: {model: values, value.part.bytes: 16KiB}
      """;

  @TempDir
  private Path folder;

  private final LoopResources loops = LoopResources.create("spaces", 1, true);
  private final List<AutoCloseable> opened = new ArrayList<>();

  private NodeConfig config(String yaml) throws IOException {
    return NodeConfig.resolve(Files.writeString(folder.resolve("node.yaml"), yaml), Map.of(), Map.of());
  }

  private Node start(String yaml) throws IOException {
    Node node = Objects.requireNonNull(Node.start(config(yaml)).block(SOON));
    opened.add(() -> node.close().block(SOON));
    return node;
  }

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private static CacheSpace space(String model, int layers, int heads, int width, String salt) {
    return new CacheSpace(model, BlockLayout.attention(layers, 4, heads, width, ElementType.BF16), 0, salt);
  }

  private static CacheSpace wide() {
    return space("wide", 2, 2, 256, "");
  }

  private static CacheSpace narrow(String salt) {
    return space("narrow", 4, 1, 32, salt);
  }

  /// A client of one space, whose blocks have bytes that follow from their keys.
  private final class Party {
    final CacheSpace space;
    final KvClient client;
    final ProducingSource source;

    Party(Node node, CacheSpace space) {
      this.space = space;
      SlabArena landed = new SlabArena("landed", space.layout(), 64, 8);
      SlabArena produced = new SlabArena("produced", space.layout(), 64, 8);
      source = new ProducingSource(produced, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
      client = Objects.requireNonNull(KvClient.connect(
          TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops),
          KvClientOptions.builder().windowBlocks(16).build(), space, landed, new ByteBudget("party", 4 << 20, 64))
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

    Mono<List<Receipt>> put(int from, int to) {
      return client.put(keys(from, to), source).collectList();
    }

    /// The keys whose blocks came, with the bytes that they must have.
    Mono<List<BlockKey>> read(int from, int to) {
      return Flux
          .using(BlockScope::new, scope -> new RemoteTier(client, space).get(keys(from, to), scope).map(block -> {
            try (Block read = block) {
              assertThat(read.<Integer>read(
                  memory -> KvPattern.mismatch(read.key(), space.layout(), GranuleRange.all(space.layout()), memory)))
                  .isEqualTo(-1);
              return read.key();
            }
          }), BlockScope::close).collectList();
    }
  }

  private static String http(Node node, String path) throws Exception {
    return AdminRequest.get(node.adminPort().orElseThrow(), path).body();
  }

  @Test
  void threeClients_ofThreeLayouts_useOneNodeAtOnce() throws Exception {
    Node node = start(SPACES);
    List<Party> parties =
        List.of(new Party(node, wide()), new Party(node, narrow("")), new Party(node, narrow("mine")));
    List<List<Receipt>> receipts = Objects.requireNonNull(
        Flux.merge(parties.stream().map(party -> party.put(0, 150)).toList()).collectList().block(SOON));
    assertThat(receipts).allSatisfy(each -> assertThat(each).hasSize(150));
    List<List<BlockKey>> read = Objects.requireNonNull(
        Flux.mergeSequential(parties.stream().map(party -> party.read(0, 150)).toList()).collectList().block(SOON));
    for (int i = 0; i < parties.size(); i++) {
      assertThat(read.get(i)).isEqualTo(parties.get(i).keys(0, 150));
    }

    assertThat(Ready.of(node, config(SPACES)).sentence()).doesNotContain("penstock-demo")
        .contains("\nspace wide: blocks of wide: 16 KiB = ", "\nspace tenant: blocks of narrow: 2 KiB = ",
            ", quota 512 KiB");
    assertThat(CommandLineRun.of("serve", "--print-config", "--config", folder.resolve("node.yaml").toString()).out())
        .contains("\nspace wide: blocks of wide: 16 KiB = ").doesNotContain("\nblocks: ");
    List<SpaceStat> spaces = Objects.requireNonNull(parties.getFirst().client.stat().block(SOON)).spaces();
    assertThat(spaces).extracting(SpaceStat::tier).containsExactly("wide", "narrow", "tenant", "values");
    assertThat(spaces).extracting(space -> space.stat().blocks()).containsExactly(150L, 150L, 150L, 0L);
    assertThat(spaces).extracting(SpaceStat::blockBytes).containsExactly(16_384L, 2_048L, 2_048L, 16_384L);
    assertThat(Objects.requireNonNull(parties.get(1).client.stat().block(SOON)).tier()).isEqualTo("narrow");
    assertThat(http(node, "/metrics")).contains("tier=\"wide\"", "tier=\"narrow\"", "tier=\"tenant\"",
        "penstock_shared_capacity_bytes ", "penstock_shared_largest_bytes ");
    assertThat(http(node, "/health")).contains("\"name\":\"wide\"", "\"name\":\"values\"");
    var table = CommandLineRun.of("stat", "--connect", "127.0.0.1:" + node.port(), "--model", "wide", "--layers", "2",
        "--block-tokens", "4", "--kv-heads", "2", "--head-dim", "256");
    assertThat(table.out()).contains("space narrow", "space tenant", "150 blocks of");
    var plain = CommandLineRun.of("stat", "--connect", "127.0.0.1:" + node.port());
    assertThat(plain.exitCode()).as(plain.err()).isZero();
    assertThat(plain.out()).contains("space wide", "space narrow", "space tenant", "space values")
        .containsPattern("level dram of tenant +150 of ");
    JsonNode told = JsonMapper.shared()
        .readTree(CommandLineRun.of("stat", "--connect", "127.0.0.1:" + node.port(), "--json").out()).get("spaces");
    assertThat(told).allSatisfy(space -> assertThat(space.at("/stat/levels")).hasSize(1));
    assertThat(told.at("/1/stat/levels/0/blocks").asLong()).isEqualTo(150);
    assertThat(node.drain().block(SOON)).isTrue();
  }

  @Test
  void eachSpace_hasItsOwnCurve() throws Exception {
    Node node = start(SPACES);
    Party wide = new Party(node, wide());
    Party narrow = new Party(node, narrow(""));
    Party tenant = new Party(node, narrow("mine"));
    for (Party party : List.of(wide, narrow, tenant)) {
      party.put(0, 40).block(SOON);
    }
    wide.read(0, 40).block(SOON);
    wide.read(0, 40).block(SOON);
    narrow.read(0, 30).block(SOON);
    tenant.read(0, 20).block(SOON);

    JsonNode spaces = JsonMapper.shared().readTree(http(node, "/whatif")).get("spaces");
    assertThat(spaces).extracting(space -> space.get("tier").asString())
        .containsExactly("wide", "narrow", "tenant", "values");
    assertThat(spaces).extracting(space -> space.at("/whatIf/curve/references").asLong())
        .containsExactly(80L, 30L, 20L, 0L);
    assertThat(spaces).extracting(space -> space.get("space").asString())
        .containsExactly(wide().id().toString(), narrow("").id().toString(), "",
            ValueStore.space("values", 16 << 10, "").id().toString());
    // Of 4 MiB, wide is guaranteed two of five parts
    long present = spaces.at("/0/whatIf/levels/0/capacityBlocks").asLong();
    assertThat(present * (16 << 10)).isBetween((4L << 20) * 2 / 5 - (64 << 10), 4L << 20);
    assertThat(http(node, "/metrics")).contains("tier=\"wide\"", "tier=\"values\"").doesNotContain(
        narrow("mine").id().toString());
    assertThat(http(node, "/metrics").lines().filter(line -> line.startsWith("penstock_level_whatif")))
        .anyMatch(line -> line.contains("tier=\"narrow\""));
    assertThat(http(node, "/whatif.svg?space=narrow")).contains("Hit rate by capacity: narrow", "30 references");
    assertThat(http(node, "/whatif.svg")).contains("Hit rate by capacity: wide");
    assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/whatif.svg?space=x").statusCode()).isEqualTo(404);

    String admin = "127.0.0.1:" + node.adminPort().orElseThrow();
    CommandLineRun all = CommandLineRun.of("whatif", "--admin", admin);
    assertThat(all.out()).contains("wide: 80 references", "narrow: 30 references", "tenant: 20 references");
    assertThat(all.err()).isEqualTo("values has had no references yet\n");
    Path chart = folder.resolve("narrow.svg");
    CommandLineRun one =
        CommandLineRun.of("whatif", "--admin", admin, "--space", "narrow", "--json", "--svg", chart.toString());
    assertThat(JsonMapper.shared().readTree(one.out()).get("spaces")).extracting(space -> space.get("name").asString())
        .containsExactly("narrow");
    assertThat(chart).content().contains("narrow at " + admin);
    assertThat(CommandLineRun.of("whatif", "--admin", admin, "--space", "wider").err())
        .contains("--space must be one of wide, narrow, tenant, values (was wider)");
    assertThat(CommandLineRun.of("whatif", "--admin", admin, "--svg", chart.toString()).err())
        .contains("--space must be given with --svg, for the node has several: wide, narrow, tenant, values");
    CommandLineRun wrongPort = CommandLineRun.of("whatif", "--admin", "127.0.0.1:" + node.port());
    assertThat(wrongPort.exitCode()).isEqualTo(69);
    assertThat(wrongPort.err()).contains("--admin must be the admin port of a node, which `serve` prints");
  }

  @Test
  void eachSpace_hasItsOwnKvEvents() throws Exception {
    String yaml = SPACES + """
        kv.events.port: 0
        kv.events.replay.port: 0
        """;
    Node node = start(yaml);
    List<Ready.KvEvents> streams = Ready.of(node, config(yaml)).kvEvents();
    assertThat(streams).extracting(Ready.KvEvents::topic)
        .containsExactly("kv-events@wide", "kv-events@narrow", "kv-events@values"); // a tenant's are not told
    assertThat(Ready.of(node, config(yaml)).sentence()).contains(
        "\nKV events of narrow on port " + streams.get(1).port() + ", replay on port ", "topic kv-events@narrow");
    Party wide = new Party(node, wide());
    Party narrow = new Party(node, narrow(""));
    Party tenant = new Party(node, narrow("mine"));
    try (KvIndex ofWide = index(streams.get(0)); KvIndex ofNarrow = index(streams.get(1))) {
      wide.put(0, 30).block(SOON);
      tenant.put(100, 110).block(SOON);
      narrow.put(20, 40).block(SOON);
      awaitKeys(ofWide, wide.keys(0, 30));
      awaitKeys(ofNarrow, narrow.keys(20, 40));
      wide.client.remove(wide.keys(0, 10)).block(SOON);
      awaitKeys(ofWide, wide.keys(10, 30));
      awaitKeys(ofNarrow, narrow.keys(20, 40));
    }
    assertThat(http(node, "/metrics")).contains("penstock_kv_events_published_total{tier=\"wide\"}",
        "penstock_kv_events_published_total{tier=\"narrow\"}");

    String named = SPACES + "kv.events.port: 0\nkv.events.topic: 'kv@node-1@{model}'\nkv.events.salted: true\n";
    assertThat(Ready.of(start(named), config(named)).kvEvents()).extracting(Ready.KvEvents::topic)
        .containsExactly("kv@node-1@wide", "kv@node-1@narrow", "kv@node-1@narrow", "kv@node-1@values");
    assertThatThrownBy(() -> start(SPACES + "kv.events.port: 65534\n"))
        .hasMessageContaining("kv.events.port must be <= 65529 with 4 spaces");
    assertThatThrownBy(() -> start(SPACES + "kv.events.port: 5557\nkv.events.replay.port: 5559\n"))
        .hasMessageContaining("kv.events.replay.port must differ from kv.events.port by an odd number, or by >= 8"
            + " (was 5559, from ");
  }

  private static KvIndex index(Ready.KvEvents stream) {
    KvIndex index = new KvIndex(stream.port(), Objects.requireNonNull(stream.replayPort()), stream.topic());
    index.replay();
    return index;
  }

  private static void awaitKeys(KvIndex index, List<BlockKey> keys) {
    Set<Long> wanted = keys.stream().map(key -> key.hash().low()).collect(Collectors.toSet());
    long end = System.nanoTime() + SOON.toNanos();
    while (!index.media().keySet().equals(wanted)) {
      assertThat(System.nanoTime()).as("%s of %s", index.media().keySet(), wanted).isLessThan(end);
      index.read(0);
      index.replay(); // the subscription may have come after the last batch
    }
  }

  @Test
  void aSalt_needNotStandOnTheCommandLine() throws Exception {
    Node node = start(SPACES);
    new Party(node, narrow("mine")).put(0, 3).block(SOON);
    List<String> match = List.of("match", "--connect", "127.0.0.1:" + node.port(), "--model", "narrow", "--layers",
        "4", "--block-tokens", "4", "--kv-heads", "1", "--head-dim", "32", "--trace-id", "0-3");
    Path salt = Files.writeString(folder.resolve("salt"), "mine\n");
    assertThat(CommandLineRun.of(with(match, "--salt-file", salt.toString())).out()).startsWith("prefix 3 of 4");
    assertThat(CommandLineRun.with(Map.of("PENSTOCK_SALT", "mine"), new byte[0], with(match)).out())
        .startsWith("prefix 3 of 4");
    assertThat(CommandLineRun.of(with(match)).out()).startsWith("prefix 0 of 4");
    assertThat(CommandLineRun.of(with(match, "--salt-file", salt.toString(), "--salt", "mine")).err())
        .contains("--salt must be left out with --salt-file");
  }

  private static String[] with(List<String> words, String... more) {
    return Stream.concat(words.stream(), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void aTenant_neverHitsTheBlocksOfAnother_andStaysWithinItsQuota() throws Exception {
    Node node = start(SPACES);
    Party mine = new Party(node, narrow("mine"));
    Party others = new Party(node, narrow(""));
    others.put(0, 50).block(SOON);
    assertThat(mine.read(0, 50).block(SOON)).isEmpty();
    assertThat(Objects.requireNonNull(mine.client.contains(mine.keys(0, 50)).block(SOON)).count()).isZero();
    for (int from = 0; from < 600; from += 50) {
      mine.put(from, from + 50).block(SOON);
    }
    long bytes = Objects.requireNonNull(mine.client.stat().block(SOON)).stat().bytes();
    assertThat(bytes).isBetween(400L << 10, 512L << 10);
    assertThat(others.read(0, 50).block(SOON)).hasSize(50);
  }

  @Test
  void values_ofAnyLength_shareTheNode_andOneLongerThanTheSpaceIsRefused() throws Exception {
    Node node = start(SPACES);
    Party party = new Party(node, ValueStore.space("values", 16 << 10, ""));
    ValueStore values = new ValueStore(new RemoteTier(party.client, party.space), 8);
    byte[] bytes = new byte[1_000_001];
    new Random(7).nextBytes(bytes);
    assertThat(values.put("checkpoint/1", bytes.length, Flux.just(MemorySegment.ofArray(bytes))).block(SOON)).isTrue();
    assertThat(values.put("checkpoint/1", 5, Flux.error(new AssertionError("must not be read"))).block(SOON)).isFalse();
    try (BlockScope scope = new BlockScope()) {
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      Objects.requireNonNull(values.get("checkpoint/1", scope).block(SOON)).parts().doOnNext(part -> {
        try (part) {
          read.writeBytes(part.<byte[]>read(memory -> memory.toArray(ValueLayout.JAVA_BYTE)));
        }
      }).blockLast(SOON);
      assertThat(read.toByteArray()).isEqualTo(bytes);
    }
    assertThat(values.remove("checkpoint/1").block(SOON)).isTrue();
    Path file = Files.write(folder.resolve("a.bin"), bytes);
    Path copy = folder.resolve("copy.bin");
    String[] space = {"--connect", "127.0.0.1:" + node.port(), "--model", "values", "--value-part-bytes", "16KiB",
      "--name", "from a file"};
    assertThat(command("put", space, file.toString()).err()).contains("from a file, 977 KiB: stored");
    assertThat(command("put", space, file.toString(), "--json").out()).contains("\"stored\":false");
    CommandLineRun got = command("get", space, "-o", copy.toString());
    assertThat(got.exitCode()).isZero();
    assertThat(got.err()).contains("from a file, 977 KiB, verified on arrival, in " + copy);
    assertThat(copy).hasBinaryContent(bytes);
    space[7] = "another";
    assertThat(command("get", space, "--discard").exitCode()).isEqualTo(1);
    assertThatThrownBy(() -> values.put("big", 64 << 20, Flux.just(MemorySegment.ofArray(bytes))).block(SOON))
        .isInstanceOf(ValueStore.ValueTooLargeException.class);
  }

  @Test
  void aValue_isReplacedAndRemoved_byCommands() throws Exception {
    String[] space = {"--connect", "127.0.0.1:" + start(SPACES).port(), "--model", "values", "--value-part-bytes",
      "16KiB", "--name", "k"};
    Path first = Files.write(folder.resolve("first.bin"), new byte[50_000]);
    byte[] bytes = new byte[20_000];
    new Random(8).nextBytes(bytes);
    Path second = Files.write(folder.resolve("second.bin"), bytes);
    Path copy = folder.resolve("copy.bin");
    assertThat(command("put", space, first.toString()).err()).contains("k, 48.8 KiB: stored");
    CommandLineRun same = command("put", space, first.toString());
    assertThat(same.exitCode()).isZero();
    assertThat(same.err()).contains("k, 48.8 KiB: there already, as long as FILE; their bytes were not compared");

    CommandLineRun kept = command("put", space, second.toString());
    assertThat(kept.exitCode()).isEqualTo(1);
    assertThat(kept.err()).contains("k, 48.8 KiB: there already, with 50000 bytes; FILE, which has 20000, was not");
    assertThat(command("put", space, second.toString(), "--json").out())
        .contains("\"bytes\":50000,\"stored\":false,\"found\":true");
    assertThat(command("get", space, "-o", copy.toString()).exitCode()).isZero();
    assertThat(copy).hasBinaryContent(new byte[50_000]);

    assertThat(command("put", space, second.toString(), "--replace").err()).contains("k, 19.5 KiB: stored");
    assertThat(command("get", space, "-o", copy.toString()).exitCode()).isZero();
    assertThat(copy).hasBinaryContent(bytes);

    CommandLineRun removed = command("remove", space);
    assertThat(removed.exitCode()).isZero();
    assertThat(removed.out()).isEqualTo("k: removed\n");
    assertThat(command("get", space, "-o", copy.toString()).exitCode()).isEqualTo(1);
    assertThat(copy).as("a miss writes nothing").hasBinaryContent(bytes);
    CommandLineRun missing = command("remove", space, "--json");
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.out()).contains("\"removed\":false");
    assertThat(command("put", space, first.toString(), "--hard").err())
        .contains("--soft, --hard, --group and --require must be left out with --name");
    assertThat(command("remove", space, "--all").err()).contains("must be left out with --name");

    Path large = Files.write(folder.resolve("large.bin"), new byte[8 << 20]);
    assertThat(command("put", space, large.toString()).err())
        .containsPattern("value k of space values must be <= [0-9]+ bytes, the room of its space \\(was ");
  }

  /// A client whose memory for blocks is one slot replaces values whose heads it has to read.
  @ParameterizedTest
  @CsvSource({"100, 200", "30000, 200", "100, 30000", "30000, 16384"})
  void aValue_isReplaced_byAClientWithOneSlot(int before, int length) throws Exception {
    Node node = start(SPACES);
    CacheSpace space = ValueStore.space("values", 16 << 10, "");
    ValueStore others = new ValueStore(new RemoteTier(new Party(node, space).client, space));
    assertThat(others.put("k", before, Flux.just(MemorySegment.ofArray(new byte[before]))).block(SOON)).isTrue();
    SlabArena slot = new SlabArena("slot", space.layout(), 1, 1);
    KvClient client = Objects.requireNonNull(KvClient.connect(
        TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops),
        KvClientOptions.builder().windowBlocks(1).build(), space, slot, new ByteBudget("slot", 1 << 20, 64))
        .block(SOON));
    opened.add(() -> {
      client.close().block(SOON);
      slot.close();
    });
    ValueStore values = new ValueStore(new RemoteTier(client, space), 1);
    Flux<MemorySegment> bytes = Flux.just(MemorySegment.ofArray(new byte[length]));
    assertThat(values.replace("k", length, bytes, null, null).block(SOON)).isNotNull();
    ValueStore.Filling filled = memory -> Mono.fromRunnable(() -> memory.fill((byte) 1));
    assertThat(values.replace("k", length + 1, filled, null, null).block(SOON)).isNotNull();
    assertThat(others.length("k").block(SOON)).isEqualTo(length + 1);
  }

  @Test
  void aValueThatAnotherClientNeverEndsToStore_isNotReplaced_andNoOptionIsAdvised() throws Exception {
    Node node = start(SPACES);
    String[] space = {"--connect", "127.0.0.1:" + node.port(), "--model", "values", "--value-part-bytes", "16KiB",
      "--name", "k"};
    Path file = Files.write(folder.resolve("mine.bin"), new byte[20_000]);
    assertThat(command("put", space, file.toString()).exitCode()).isZero();
    Party party = new Party(node, ValueStore.space("values", 16 << 10, ""));
    AtomicBoolean isWriting = new AtomicBoolean();
    Disposable other = party.client.put(List.of(new ValueStore(new RemoteTier(party.client, party.space)).headKey("k")),
        TierHolds.PutTerms.plain().withUpserts(true), window -> {
          isWriting.set(true);
          return Flux.never();
        }).subscribe();
    Eventually.holds("the other client has room for a value of this name", isWriting::get);
    CommandLineRun put = command("put", space, file.toString(), "--replace", "--json");
    assertThat(put.exitCode()).isEqualTo(1);
    assertThat(put.out()).contains("\"bytes\":20000,\"stored\":false,\"found\":true");
    assertThat(put.err()).contains("value k must be free of other writers to be replaced (another client was storing"
        + " it at each of 8 tries; value k is as it was or theirs)").doesNotContain("--replace");
    other.dispose();
  }

  private static CommandLineRun command(String name, String[] space, String... more) {
    return CommandLineRun.of(
        Stream.of(Stream.of(name), Stream.of(space), Stream.of(more)).flatMap(each -> each).toArray(String[]::new));
  }

  private static final String ON_DISK = """
      listen.port: 0
      admin.port: 0
      dram: 4MiB
      ssd: 64MiB
      ssd.segment.bytes: 1MiB
      ssd.engine: plain
      ssd.dir: %s
      spaces:
        %s: {model: one, value.part.bytes: 16KiB}
        %s: {model: two, value.part.bytes: 32KiB}
      """;

  @Test
  void folder_belongsToOneNode_whateverItsSpaces_untilItEndsOrIsKilled() throws Exception {
    Path ssd = folder.resolve("ssd");
    Path theirs = Files.writeString(folder.resolve("theirs.yaml"), ON_DISK.formatted(ssd, "a", "b"));
    Path mine = Files.writeString(folder.resolve("mine.yaml"), ON_DISK.formatted(ssd, "c", "d"));
    try (NodeProcess first = NodeProcess.start(folder, "--config", theirs.toString())) {
      CommandLineRun second = CommandLineRun.of("serve", "--config", mine.toString());
      assertThat(second.exitCode()).isEqualTo(74);
      assertThat(second.err())
          .isEqualTo(
              ("serve: ssd.dir must be a folder that no other process has open (was %1$s, from %2$s): journal %1$s"
                  + " must be opened by one process at a time (was open in process %3$d)%n")
                  .formatted(ssd, mine + " line 7", first.pid()));
      assertThat(ssd.resolve("c")).doesNotExist();
      first.kill();
      assertThat(first.exitCode()).isEqualTo(128 + 9);
    }
    NodeConfig config = NodeConfig.resolve(mine, Map.of(), Map.of());
    Node third = Objects.requireNonNull(Node.start(config).block(SOON));
    NodeConfig another = NodeConfig.resolve(theirs, Map.of(), Map.of());
    assertThatThrownBy(() -> Node.start(another).block(SOON)).hasRootCauseInstanceOf(DirectoryLockedException.class);
    third.close().block(SOON);
    Objects.requireNonNull(Node.start(another).block(SOON)).close().block(SOON);
  }

  @Test
  void journalsOfSpacesThatTheNodeHasNot_areNamed_withWhatToDo() throws Exception {
    Path ssd = folder.resolve("ssd");
    start(ON_DISK.formatted(ssd, "a", "b")).drain().block(SOON);
    try (NodeProcess renamed = NodeProcess.start(folder, "--config",
        Files.writeString(folder.resolve("renamed.yaml"), ON_DISK.formatted(ssd, "a", "c")).toString())) {
      assertThat(renamed.said().lines().filter(line -> line.contains("ssd.dir must"))).singleElement().asString()
          .containsPattern("WARN .*ssd.dir must have journals of the spaces of this node alone \\(has also: "
              + ssd.resolve("b") + ", \\d+(\\.\\d+)? [KM]?i?B\\): name a space as such a folder to have its blocks"
              + " again, or delete what no other node uses$");
      renamed.terminate();
      assertThat(renamed.exitCode()).isZero();
    }
    try (NodeProcess alone = NodeProcess.start(folder, "--ssd", "8MiB", "--ssd-dir", ssd.toString(), "--dram", "4MiB",
        "--reserve-blocks", "8", "--window-blocks", "8")) {
      assertThat(alone.said()).contains(ssd.resolve("a") + ", ", "; " + ssd.resolve("b") + ", ",
          "; " + ssd.resolve("c") + ", ").doesNotContain("itself");
      alone.terminate();
      assertThat(alone.exitCode()).isZero();
    }
    try (NodeProcess back = NodeProcess.start(folder, "--config",
        Files.writeString(folder.resolve("back.yaml"), ON_DISK.formatted(ssd, "a", "b")).toString())) {
      assertThat(back.said()).contains("(has also: " + ssd + ", ", "serve without spaces to have the blocks of " + ssd
          + " itself again, or delete what no other node uses");
      back.terminate();
      assertThat(back.exitCode()).isZero();
    }
  }

  @Test
  void anUnknownSpace_isRefused_withTheNamesOfWhatTheNodeHas() throws Exception {
    Node node = start(SPACES);
    assertThatThrownBy(() -> new Party(node, space("other", 1, 1, 32, "")))
        .isInstanceOfSatisfying(RemotePermanentException.class, e -> assertThat(e.code())
            .isEqualTo(ErrorCode.SPACE_MISMATCH.code()))
        .hasMessageContaining("wide").hasMessageContaining("narrow").hasMessageContaining("tenant");
    assertThatThrownBy(() -> new Party(node, space("wide", 3, 2, 256, "")))
        .hasMessage("space.layers must be 2 (was 3)");
  }

  @Test
  void aNodeThatIsOpen_opensSpacesForClients_upToItsBound() throws Exception {
    Node node = start("""
        listen.port: 0
        admin.port: 0
        dram: 4MiB
        spaces.open: true
        spaces.open.most: 2
        block.bytes: 4KiB
        """);
    Party first = new Party(node, narrow(""));
    first.put(0, 40).block(SOON);
    new Party(node, narrow(""));
    new Party(node, wide()).put(0, 10).block(SOON);
    assertThat(first.read(0, 40).block(SOON)).hasSize(40);
    assertThatThrownBy(() -> new Party(node, space("other", 1, 1, 32, "")))
        .hasMessageContaining("this node opens no others");
    assertThatThrownBy(() -> new Party(node, narrow("salted"))).hasMessageContaining("space.tenantSalt");
    assertThat(Objects.requireNonNull(first.client.stat().block(SOON)).spaces()).hasSize(3);
    assertThat(http(node, "/health")).contains("\"name\":\"main\"", "\"name\":\"open-");
  }

  @Test
  void spacesOnDisk_areKept_eachInItsFolder() throws Exception {
    String yaml = SPACES + "ssd: 64MiB\nssd.engine: plain\nssd.dir: " + folder.resolve("ssd") + "\n";
    Node node = start(yaml);
    Party party = new Party(node, wide());
    for (int from = 0; from < 600; from += 50) {
      party.put(from, from + 50).block(SOON);
    }
    assertThat(node.drain().block(SOON)).isTrue();
    assertThat(folder.resolve("ssd").resolve("wide")).isDirectory();
    assertThat(folder.resolve("ssd").resolve("values")).isDirectory();
    Party again = new Party(start(yaml), wide());
    assertThat(again.read(0, 200).block(SOON)).hasSize(200);
  }

  @Test
  void aTenant_keepsToItsQuotaOfTheDisk_andTakesNothingOfTheOthers() throws Exception {
    String yaml = SPACES.replace("quota: 512KiB", "quota: 512KiB, ssd.quota: 2MiB")
        + "ssd: 64MiB\nssd.engine: plain\nssd.segment.bytes: 1MiB\nssd.dir: " + folder.resolve("ssd") + "\n";
    Node node = start(yaml);
    Party others = new Party(node, narrow(""));
    Party mine = new Party(node, narrow("mine"));
    for (int from = 0; from < 1_000; from += 100) {
      others.put(from, from + 100).block(SOON);
    }
    for (int from = 0; from < 2_500; from += 100) {
      mine.put(from, from + 100).block(SOON);
    }
    TierStat.Level tenant = level(mine, "ssd");
    assertThat(tenant.capacityBlocks()).isEqualTo((2 << 20) / (2 << 10));
    assertThat(tenant.blocks()).isBetween(900L, tenant.capacityBlocks());
    assertThat(level(others, "ssd").capacityBlocks()).as("a quarter of what the quota leaves")
        .isEqualTo((62L << 20) / 4 / (2 << 10));
    assertThat(Objects.requireNonNull(others.client.stat().block(SOON)).stat().evicted()).isZero();
    assertThat(others.read(0, 1_000).block(SOON)).hasSize(1_000);
    assertThat(bytesIn(folder.resolve("ssd").resolve("tenant"))).as("files of the tenant")
        .isLessThanOrEqualTo(8L << 20);
    assertThat(Ready.of(node, config(yaml)).sentence()).contains("quota 512 KiB, ssd quota 2 MiB");
    assertThatThrownBy(() -> config("spaces:\n  a: {model: m, block.bytes: 4MiB, ssd.quota: 1MiB}\n"))
        .hasMessageStartingWith("spaces.a: ssd.quota must be >= one block of 4 MiB (was 1 MiB, from ");
  }

  private static TierStat.Level level(Party party, String name) {
    return Objects.requireNonNull(party.client.stat().block(SOON)).stat().levels().stream()
        .filter(level -> level.name().equals(name)).findFirst().orElseThrow();
  }

  private static long bytesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      long bytes = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        bytes += Files.size(file);
      }
      return bytes;
    }
  }

  @Test
  void whatSpacesCannotBe_isRefusedTogether() {
    assertThatThrownBy(() -> config("""
        dram: unbounded
        hbm: 10 blocks
        spaces:
          a: {model: m, block.bytes: 4KiB}
        """)).isInstanceOf(ConfigException.class).hasMessageContaining("hbm must be off with spaces")
        .hasMessageContaining("dram must be a number of bytes with spaces");
    assertThatThrownBy(() -> config(
        "write.policy: write_through\nssd: 64GiB\nssd.dir: x\nspaces:\n  a: {model: m, block.bytes: 4KiB}\n"))
        .hasMessageContaining(
            "write.policy must not be write_through with spaces, whose blocks go to the disk when they"
                + " leave memory: what lies in memory alone when the node ends is gone (was write_through, from ");
    assertThatThrownBy(() -> config("spaces:\n  a: {model: m, layers: 2}\n  b: {model: m, layers: 2}\n"))
        .hasMessageContaining("spaces.b must differ from spaces.a");
    assertThatThrownBy(() -> config("spaces:\n  a: {model: m, block.bytes: 4MiB, quota: 1MiB}\n"))
        .hasMessageStartingWith("spaces.a: quota must be >= one block of 4 MiB (was 1 MiB, from ");
    assertThatThrownBy(() -> config("spaces:\n  a: {modle: m, weight: 0}\n"))
        .hasMessageContaining("spaces.a.modle must be a key of a space, one of model,");
    assertThatThrownBy(() -> config("dram: much\nspaces:\n  a: {model: m, weight: 0}\n  b: {model: n, quota: x}\n"))
        .hasMessageContaining("dram must be a size").hasMessageContaining("spaces.a: weight must be")
        .hasMessageContaining("spaces.b: quota must be");
  }
}
