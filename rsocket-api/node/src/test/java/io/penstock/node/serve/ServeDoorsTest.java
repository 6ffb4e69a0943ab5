package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValuePart;
import io.penstock.flow.ValueStore;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.node.door.NodeDoors;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.netty.resources.LoopResources;

/// A node with a door of no protocol.
@Timeout(120)
final class ServeDoorsTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final String DOOR = """
      listen.port: 0
      admin.port: 0
      dram: 16MiB
      resp: 127.0.0.1:0
      """;

  @TempDir
  private Path folder;

  private final LoopResources loops = LoopResources.create("doors", 1, true);
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

  private static FakeDoor.Opened door() {
    return FakeDoor.OPENED.getLast();
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static void put(DoorValues values, String name, byte[] bytes) {
    assertThat(values.put(name, bytes.length, Flux.just(MemorySegment.ofArray(bytes))).block(SOON)).isTrue();
  }

  private static byte @Nullable [] get(DoorValues values, String name) {
    try (BlockScope scope = new BlockScope()) {
      return values.get(name, scope).flatMapMany(LeasedValue::parts).collect(ByteArrayOutputStream::new,
          ServeDoorsTest::append).map(ByteArrayOutputStream::toByteArray)
          .filter(all -> all.length > 0).block(SOON);
    }
  }

  private static void append(ByteArrayOutputStream all, ValuePart part) {
    all.writeBytes(part.read(memory -> memory.toArray(ValueLayout.JAVA_BYTE)));
    part.close();
  }

  @Test
  void door_storesValuesOfAnyLength_thatClientsOfTheNodeRead() throws IOException {
    Node node = start(DOOR);
    DoorValues values = door().terms.spaces().of("u").values();
    for (int length : List.of(1, 28, 4_500, 100_000, 256 << 10, 2_000_000)) {
      put(values, "v" + length, bytes(length, length));
    }

    for (int length : List.of(1, 28, 4_500, 100_000, 256 << 10, 2_000_000)) {
      assertThat(get(values, "v" + length)).isEqualTo(bytes(length, length));
      assertThat(values.length("v" + length).block(SOON)).isEqualTo(length);
    }
    SlabArena landed = new SlabArena("landed", ValueStore.space("values", 262_656, "").layout(), 16, 8);
    opened.add(landed::close);
    KvClient client = Objects.requireNonNull(KvClient.connect(
        TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops),
        KvClientOptions.builder().build(), ValueStore.space("values", 262_656, ""), landed,
        new ByteBudget("party", 8 << 20, 64)).block(SOON));
    opened.add(() -> client.close().block(SOON));
    try (BlockScope scope = new BlockScope()) {
      assertThat(new ValueStore(new RemoteTier(client, ValueStore.space("values", 262_656, "")))
          .get("v2000000", scope).flatMapMany(LeasedValue::parts)
          .collect(ByteArrayOutputStream::new, ServeDoorsTest::append).map(ByteArrayOutputStream::toByteArray)
          .block(SOON)).isEqualTo(bytes(2_000_000, 2_000_000));
    }
  }

  @Test
  void valuesInMemoryAlone_areCounted() throws IOException {
    Node node = start(DOOR);
    for (int i = 0; i < 5; i++) {
      put(door().terms.spaces().of().values(), "v" + i, bytes(i, 100_000 * i + 1));
    }
    assertThat(node.valuesInMemoryAlone().block(SOON)).isEqualTo(5);

    Node withDisk = start(DOOR.replace("16MiB", "4MiB") + "ssd: 64MiB\nssd.dir: " + folder.resolve("ssd")
        + "\nssd.segment.bytes: 4MiB\nresp.part.bytes: 262656\n");
    for (int i = 0; i < 24; i++) {
      put(door().terms.spaces().of().values(), "v" + i, bytes(i, 600_000));
    }
    Eventually.holds("most have left memory", () -> withDisk.valuesInMemoryAlone().block(SOON) < 12);
    assertThat(withDisk.valuesInMemoryAlone().block(SOON)).isPositive();
  }

  @Test
  void aValueOfStandardInput_isStoredWhole() throws IOException {
    Node node = start(DOOR);
    byte[] value = new byte[300_000];
    new Random(7).nextBytes(value);
    String[] named = {"--connect", "127.0.0.1:" + node.port(), "--model", "values", "--value-part-bytes", "262656",
      "--name", "k"};
    assertThat(withInput(value, "put", named, "-").err()).contains("k, 293 KiB: stored");
    assertThat(withInput(new byte[0], "get", named).outBytes()).isEqualTo(value);
    CommandLineRun dash = withInput(new byte[0], "get", named, "--output", "-");
    assertThat(dash.outBytes()).as("only the bytes").isEqualTo(value);
    assertThat(dash.err()).isEqualTo("k, 293 KiB, verified on arrival\n");
    assertThat(Path.of("-")).doesNotExist();
    assertThat(withInput(value, "put", named, "--count", "1").err())
        .contains("--count and keys must be left out with --name");
  }

  private static CommandLineRun withInput(byte[] in, String command, String[] options, String... more) {
    return CommandLineRun.with(Map.of(), in,
        Stream.of(Stream.of(command), Stream.of(options), Stream.of(more)).flatMap(each -> each)
            .toArray(String[]::new));
  }

  @Test
  void putWithoutAModel_atANodeWithValuesAlone_isToldHowToPutOne() throws IOException {
    Node node = start(DOOR);
    Path file = Files.write(folder.resolve("file"), new byte[100]);
    CommandLineRun put = CommandLineRun.of("put", "--connect", "127.0.0.1:" + node.port(), file.toString());
    assertThat(put.exitCode()).isEqualTo(2);
    assertThat(put.err()).matches("put: blocks must be of a space that the node at 127.0.0.1:\\d+ has \\(space must be"
        + " one of values \\w+ \\(values in parts of 262656 bytes\\),"
        + " values-64k \\w+ \\(values in parts of \\d+ bytes\\),"
        + " values-4k \\w+ \\(values in parts of \\d+ bytes\\) \\(was penstock-demo \\w+\\)\\); "
        + "--model, --value-part-bytes"
        + " and --name state a space of values and a value in it\n");
    assertThat(CommandLineRun.of("put", "--connect", "127.0.0.1:" + node.port(), "--model", "values",
        "--value-part-bytes", "262656", "--name", "k", file.toString()).err()).contains("k, 100 B: stored");
    assertThat(CommandLineRun.of("put", "--connect", "127.0.0.1:" + node.port(), "--model", "values",
        "--value-part-bytes", "256KiB", "--name", "k", file.toString()).err())
        .contains("(values in parts of 262656 bytes)").endsWith("; --value-part-bytes was 256 KiB\n");
  }

  @Test
  void valuesInMemoryAlone_areCountedBesideTheDrain_beforeTheTiersClose() throws IOException {
    Node node = start(DOOR);
    for (int i = 0; i < 5; i++) {
      put(door().terms.spaces().of().values(), "v" + i, bytes(i, 100_000 * i + 1));
    }
    List<Long> gone = new CopyOnWriteArrayList<>();
    List<Long> blocks = new CopyOnWriteArrayList<>();
    assertThat(node.drain(gone::add, blocks::add).block(SOON)).isTrue();
    assertThat(gone).containsExactly(5L);
    assertThat(blocks).as("beside those of values").isEmpty();
  }

  @Test
  void valuesThatMayBeLongerThanTheRoom_areWarnedOf() throws IOException {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(NodeDoors.class);
    logger.addAppender(log);
    try {
      start(DOOR);
      assertThat(log.list).singleElement().extracting(ILoggingEvent::getFormattedMessage).asString()
          .startsWith("resp.value.most must be <= 1").contains(
              " MiB, the room of space values: there is no room for longer values (was 512 MiB, from default)");
      log.list.clear();
      start(DOOR + "resp.value.most: 8MiB\n");
      assertThat(log.list).isEmpty();
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void value_thatIsReplacedByOneOfAnotherLength_isThereOnce() throws IOException {
    start(DOOR);
    DoorValues values = door().terms.spaces().of().values();
    for (int length : List.of(10, 300_000, 2_000_000, 70_000, 11)) {
      put(values, "a", bytes(length, length));
      assertThat(get(values, "a")).isEqualTo(bytes(length, length));
    }

    assertThat(values.remove("a").block(SOON)).isTrue();
    assertThat(get(values, "a")).isNull();
    assertThat(values.names("")).isEmpty();
  }

  @Test
  void spaces_ofUsersThatTheSettingsName_areApart() throws IOException {
    start(DOOR + "resp.spaces: values,alice=hers,7=hers\nspaces:\n  hers: {model: hers, value.part.bytes: 8KiB}\n");
    DoorValues hers = door().terms.spaces().of("alice", "0").values();
    put(hers, "a", bytes(1, 10));

    assertThat(get(door().terms.spaces().of("bob", "7").values(), "a")).isEqualTo(bytes(1, 10));
    assertThat(get(door().terms.spaces().of("bob", "0").values(), "a")).isNull();
    assertThat(door().terms.spaces().of("alice").tiers()).hasSize(1);
    assertThat(door().terms.spaces().of("bob").tiers()).hasSize(3);
  }

  @Test
  void node_thatStatesAModel_hasItsBlocksBesideTheValues() throws IOException {
    assertThat(config(DOOR).spaces()).extracting(SpaceSettings::name).containsExactly("values", "values-64k",
        "values-4k");
    assertThat(config(DOOR + "model: llama-3.1-8b\ndram: 1GiB\n".replace("dram", "budget")).spaces())
        .extracting(SpaceSettings::name).containsExactly("main", "values", "values-64k", "values-4k");
    assertThatThrownBy(() -> config(DOOR + "spaces:\n  values: {model: llama-3.1-8b}\n"))
        .isInstanceOf(ConfigException.class).hasMessageContaining("resp.spaces must name spaces with value.part.bytes");
    assertThatThrownBy(() -> config(DOOR.replace("127.0.0.1:0", "10.0.0.5:6379"))).isInstanceOf(ConfigException.class)
        .hasMessageContaining("resp must be an address of this host alone");
    assertThatThrownBy(() -> config(DOOR.replace("127.0.0.1:0", "6379"))).isInstanceOf(ConfigException.class)
        .hasMessageContaining("resp must be HOST:PORT");
  }

  @Test
  void figures_areShownByUser_andTheDoorEndsBeforeTheTiers() throws Exception {
    Node node = start(DOOR);
    DoorUses.Use use = door().terms.uses().of("alice");
    use.count(DoorUses.Kind.HIT);
    use.add(DoorUses.Kind.BYTES_OUT, 42);

    String health = AdminRequest.get(node.adminPort().getAsInt(), "/health").body();
    assertThat(health)
        .contains("\"doors\":[{\"door\":\"resp\",\"address\":\"127.0.0.1:6379\",\"connections\":3,\"users\":"
            + "{\"alice\":{\"hits\":1,");
    assertThat(AdminRequest.get(node.adminPort().getAsInt(), "/metrics").body())
        .contains("penstock_door_bytes_total{direction=\"out\",door=\"resp\",user=\"alice\"} 42.0");
    assertThat(Ready.of(node, config(DOOR)).sentence()).contains(", resp on 127.0.0.1:6379\n");
    FakeDoor.Opened door = door();
    assertThat(node.drain().block(SOON)).isTrue();
    assertThat(door.calls).containsExactly("drain", "close");
  }

  @Test
  void door_thatCannotListen_isNamedWithItsSetting() {
    assertThatThrownBy(() -> start(DOOR.replace("127.0.0.1:0", "unix:/tmp/a.refused"))).hasRootCauseInstanceOf(
        IOException.class).hasMessageContaining(
            "resp must be an address where this user can listen (was unix:/tmp/a.refused, from " + folder)
        .hasMessageContaining("the socket is not wanted");
  }

  @Test
  void door_whoseModuleIsAbsent_isRefusedInOneLine() {
    Thread test = Thread.currentThread();
    ClassLoader all = test.getContextClassLoader();
    test.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    try {
      CommandLineRun run = CommandLineRun.of("serve", "--listen-port", "0", "--admin-port", "off", "--resp",
          "127.0.0.1:0");
      assertThat(run.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
      assertThat(run.err().strip()).isEqualTo("serve: resp must be off without the artifact"
          + " io.penstock:penstock-resp on the class path, which has the door (was 127.0.0.1:0, from --resp)");
    } finally {
      test.setContextClassLoader(all);
    }
  }
}
