package io.penstock.node.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionUse;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.DataException;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.wire.PenstockClient;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock export` and `penstock import` between two nodes in this process, over loopback sockets.
@Timeout(60)
final class ExportImportTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int[] PROMPT = new Random(1).ints(5 * 16 + 3, 0, 1000).toArray();
  private static final String FINGERPRINT = "toy 1 sha256:aa";

  @TempDir
  Path folder;
  private Node from;
  private final List<Node> nodes = new ArrayList<>();
  private CacheSpace space;

  @BeforeEach
  void start() throws IOException {
    from = node(FINGERPRINT, "32 blocks");
    space = config(FINGERPRINT, "32 blocks").space();
    offload(SessionUse.of(SessionId.of("team-a/chat")), PROMPT);
  }

  @AfterEach
  void stop() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private static NodeConfig config(String fingerprint, String dram) throws IOException {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "off",
        NodeSettings.DRAM, dram, NodeSettings.POLICY, "sessions", LayoutSettings.MODEL, "toy", LayoutSettings.LAYERS,
        "2", LayoutSettings.KV_HEADS, "2", LayoutSettings.HEAD_DIM, "8", LayoutSettings.FINGERPRINT, fingerprint));
    return NodeConfig.resolve(null, Map.of(), flags);
  }

  private Node node(String fingerprint, String dram) throws IOException {
    Node node = Objects.requireNonNull(Node.start(config(fingerprint, dram)).block(SOON));
    nodes.add(node);
    return node;
  }

  private static String address(Node node) {
    return "127.0.0.1:" + node.port();
  }

  private void offload(SessionUse use, int[] tokens) {
    PenstockClient client = Objects.requireNonNull(PenstockClient.connect(address(from), space).block(SOON));
    MemorySegment row = Arena.ofAuto().allocate(space.layout().rowBytes(0), 8);
    assertThat(client.inSession(use, Duration.ZERO).offload(tokens, (layer, plane, token) -> {
      row.set(ValueLayout.JAVA_INT, 0, 1_000_000 * layer + 100_000 * plane + tokens[token]);
      return row;
    }).block(SOON)).isPositive();
    client.close().block(SOON);
  }

  private Path exported() {
    Path to = folder.resolve("out");
    CommandLineRun run = CommandLineRun.of("export", "team-a/chat", "--node", address(from), "--to", to.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo("5 blocks, 10.0 KiB, verified, in " + to + "\n");
    return to;
  }

  private static CommandLineRun imported(Path folder, Node to, String... more) {
    List<String> line = new ArrayList<>(List.of("import", folder.toString(), "--node", address(to)));
    line.addAll(List.of(more));
    return CommandLineRun.of(line.toArray(String[]::new));
  }

  @Test
  void session_goesToAnotherNode_whole_andAsASession() throws IOException {
    Path out = exported();
    JsonNode manifest = JsonMapper.shared().readTree(Files.readString(out.resolve(SessionManifest.NAME)));
    for (String file : List.of(SessionManifest.NAME, SessionManifest.TENSORS)) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(out.resolve(file)))).as(file)
          .isEqualTo("rw-------");
    }
    assertThat(manifest.at("/session").asString()).isEqualTo("team-a/chat");
    assertThat(manifest.at("/space/fingerprint").asString()).isEqualTo(FINGERPRINT);
    assertThat(manifest.at("/blocks")).hasSize(5);
    JsonNode header = header(out.resolve(SessionManifest.TENSORS));
    String first = manifest.at("/blocks/0/hash").asString();
    assertThat(header.at("/" + first).toString())
        .isEqualTo("{\"dtype\":\"BF16\",\"shape\":[2,2,16,2,8],\"data_offsets\":[0,2048]}");

    Node to = node(FINGERPRINT, "32 blocks");
    CommandLineRun run = imported(out, to, "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("\"blocks\":5,").contains("\"stored\":5,\"present\":0,\"kept\":true");
    assertThat(imported(out, to).out()).contains("0 stored, 5 there already");

    PenstockClient client = Objects.requireNonNull(PenstockClient.connect(address(to), space).block(SOON));
    MemorySegment rows = Arena.ofAuto().allocate(4L * 80 * 32, 8);
    assertThat(client.load(PROMPT, (layer, plane, token) -> rows.asSlice(32L * (80 * (2 * layer + plane) + token), 32))
        .block(SOON)).isEqualTo(80);
    for (int token = 0; token < 80; token++) {
      assertThat(rows.get(ValueLayout.JAVA_INT, 32L * (80 * 3 + token))).isEqualTo(1_100_000 + PROMPT[token]);
    }
    SessionPage page =
        Objects.requireNonNull(client.tier().sessionKeys(SessionId.of("team-a/chat"), null, 100).block(SOON));
    assertThat(page.keys()).containsExactlyInAnyOrderElementsOf(space.keys(PROMPT));
    client.close().block(SOON);
  }

  @Test
  void export_ofTokens_hasTokensAndParents_andNothingElseIsKnown() throws IOException {
    Path out = folder.resolve("tokens");
    String ids = String.join(",", IntStream.of(PROMPT).mapToObj(String::valueOf).toList());
    CommandLineRun run =
        CommandLineRun.of("export", "team-a/chat", "--node", address(from), "--to", out.toString(), "--tokens", ids);
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode blocks = JsonMapper.shared().readTree(Files.readString(out.resolve(SessionManifest.NAME))).at("/blocks");
    List<BlockKey> keys = space.keys(PROMPT);
    assertThat(blocks.path(1).path("parent").asString()).isEqualTo(keys.getFirst().hash().toString());
    assertThat(blocks.path(1).path("tokens").path(15).asInt()).isEqualTo(PROMPT[31]);
    Node to = node(FINGERPRINT, "32 blocks");
    CommandLineRun in = imported(out, to);
    assertThat(in.exitCode()).as(in.err()).isZero();

    CommandLineRun never = CommandLineRun.of("export", "never", "--node", address(from), "--to", out + "2");
    assertThat(never.exitCode()).isEqualTo(1);
    assertThat(never.err()).contains("session never is not known to the node");
    assertThat(Path.of(out + "2")).doesNotExist();
    assertThat(CommandLineRun.of("export", "a", "--node", address(from), "--to", out.toString()).err())
        .contains("--to must be a folder that is empty");
  }

  @Test
  void unlikeFingerprint_isRefusedByName() throws IOException {
    Path out = exported();
    Node unlike = node("toy 1 sha256:bb", "32 blocks");
    CommandLineRun run = imported(out, unlike);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    assertThat(run.err()).contains(
        "fingerprint of the blocks of " + out + " must be toy 1 sha256:bb, as at the node (was " + FINGERPRINT + ")");
    assertThat(imported(out, unlike, "--salt", "s").err())
        .contains("--salt-file must be left out for blocks of a space without a salt");
  }

  @Test
  void damagedFolders_areRefused_andNothingIsStored() throws IOException {
    Path out = exported();
    Path tensors = out.resolve(SessionManifest.TENSORS);
    Path json = out.resolve(SessionManifest.NAME);
    byte[] bytes = Files.readAllBytes(tensors);
    String manifest = Files.readString(json);
    Random random = new Random(2);

    for (int i = 0; i < 20; i++) { // a flipped bit anywhere in the data
      byte[] flipped = bytes.clone();
      int data = 5 * space.layout().blockBytes();
      flipped[flipped.length - 1 - random.nextInt(data)] ^= (byte) (1 << random.nextInt(8));
      Files.write(tensors, flipped);
      refused(out, "must have the SHA-256");
    }
    Files.write(tensors, Arrays.copyOf(bytes, bytes.length - 1));
    refused(out, "must have " + bytes.length + " bytes, for 5 blocks (was " + (bytes.length - 1) + ")");
    Files.write(tensors, Arrays.copyOf(bytes, 5));
    refused(out, "must have at least 8 bytes (was 5)");
    for (long length : new long[] {-1, Long.MIN_VALUE, 100_000_001, bytes.length, 0}) {
      Files.write(tensors, bytes);
      try (RandomAccessFile file = new RandomAccessFile(tensors.toFile(), "rw")) {
        file.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(length).array());
      }
      refused(out, "length of the header must be in [2, ");
    }
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    for (String[] change : new String[][] {{"\"BF16\"", "\"BF17\"", "tensor "}, {"[2,2,", "[2,9,", "tensor "},
      {"[0,", "[9,", "tensor "}, {"{\"__", "[\"__", "header must be JSON"},
      {"\"__metadata__\":", "\"__metadata__x:", "header must be JSON"}}) {
      Files.write(tensors, text.replaceFirst(Pattern.quote(change[0]), change[1])
          .getBytes(StandardCharsets.ISO_8859_1));
      refused(out, change[2]);
    }
    Files.write(tensors, bytes);
    for (String[] change : new String[][] {{"\"version\":1", "\"version\":2", "version must be 1 (was 2)"},
      {"\"layers\":2", "\"layers\":0", "space: "}, {"\"layers\":2", "\"layers\":1", "tensor "},
      {"\"bf16\"", "\"xx\"", "space: "}, {"\"BF16\"", "\"XX\"", "space: "},
      {"blocks.safetensors", "../x", "tensors must"},
      {"\"blocks\":[", "\"blocks\":[null,", ""}, {"{\"format\"", "{\"format", ""}}) {
      String changed = manifest.replaceFirst(Pattern.quote(change[0]), change[1]);
      if (!changed.equals(manifest)) {
        Files.writeString(json, changed);
        refused(out, change[2]);
      }
    }
    Files.writeString(json, manifest);
    Node to = node(FINGERPRINT, "32 blocks");
    bytes[bytes.length - 1] ^= 1; // in the last block
    Files.write(tensors, bytes);
    CommandLineRun run = imported(out, to);
    assertThat(run.exitCode()).isEqualTo(65);
    assertThat(run.err()).contains("must have the SHA-256");
    bytes[bytes.length - 1] ^= 1;
    Files.write(tensors, bytes);
    assertThat(imported(out, to).out()).contains("5 stored, 0 there already");
  }

  private static void refused(Path folder, String because) {
    assertThatThrownBy(() -> {
      try (SessionReader reader = SessionReader.open(folder, "")) {
        reader.verify(done -> {});
      }
    }).isInstanceOf(DataException.class).hasMessageContaining(because);
  }

  private static JsonNode header(Path tensors) throws IOException {
    try (FileChannel file = FileChannel.open(tensors)) {
      ByteBuffer length = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
      file.read(length);
      ByteBuffer json = ByteBuffer.allocate((int) length.getLong(0));
      file.read(json);
      return JsonMapper.shared().readTree(json.array());
    }
  }
}
