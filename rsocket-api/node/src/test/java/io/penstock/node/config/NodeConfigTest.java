package io.penstock.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.stack.shape.StackOptions.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeConfigTest {
  @TempDir
  Path folder;

  @Test
  void nothingGiven_everySettingHasItsDefault() {
    NodeConfig config = NodeConfig.defaults();

    assertThat(config.effective()).hasSameSizeAs(NodeSettings.ALL)
        .allSatisfy(one -> assertThat(one.origin().kind()).isEqualTo(Origin.Kind.DEFAULT));
    assertThat(config.get(NodeSettings.POLICY)).isEqualTo(EvictionPolicy.ADAPTIVE);
    assertThat(config.get(NodeSettings.AWAIT_TIMEOUT)).isEqualTo(Duration.ofSeconds(60));
    assertThat(config.get(NodeSettings.LOOPS)).isEqualTo(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
    assertThat(config.layout()).isEqualTo(BlockShape.defaults().layout());
  }

  @Test
  void laterSource_winsOverTheEarlier() throws IOException {
    Path file = file("layers: 2");
    Map<String, String> variable = Map.of("PENSTOCK_LAYERS", "4");
    Map<Setting<?>, String> flag = Map.of(LayoutSettings.LAYERS, "16");

    assertThat(NodeConfig.resolve(file, Map.of(), Map.of()).get(LayoutSettings.LAYERS)).contains(2);
    assertThat(NodeConfig.resolve(file, variable, Map.of()).get(LayoutSettings.LAYERS)).contains(4);
    assertThat(NodeConfig.resolve(file, variable, flag).get(LayoutSettings.LAYERS)).contains(16);
    assertThat(NodeConfig.resolve(file, variable, flag).effective())
        .filteredOn(one -> one.setting().equals(LayoutSettings.LAYERS))
        .extracting(one -> one.origin().toString()).containsExactly("--layers");
  }

  @Test
  void everySetting_canBeGivenInEverySource_andIsPrintedAsItCanBeRead() throws IOException {
    Map<String, String> environment = new HashMap<>();
    Map<Setting<?>, String> flags = new HashMap<>();
    StringBuilder yaml = new StringBuilder();
    for (NodeConfig.Effective one : NodeConfig.defaults().effective()) {
      yaml.append(one.setting().key()).append(": ").append(one.text()).append('\n');
      environment.put(one.setting().variable(), one.text());
      flags.put(one.setting(), one.text());
    }

    assertThat(NodeConfig.resolve(file(yaml.toString()), Map.of(), Map.of()).effective())
        .allSatisfy(kind(Origin.Kind.FILE));
    assertThat(NodeConfig.resolve(null, environment, Map.of()).effective()).allSatisfy(kind(Origin.Kind.ENVIRONMENT));
    assertThat(NodeConfig.resolve(null, environment, flags).effective()).allSatisfy(kind(Origin.Kind.FLAG));
    assertThat(NodeConfig.resolve(null, environment, flags).effective()).extracting(NodeConfig.Effective::text)
        .isEqualTo(NodeConfig.defaults().effective().stream().map(NodeConfig.Effective::text).toList());
  }

  @ParameterizedTest
  @CsvSource({"resp, resp.spaces, tenants", "resp, resp.flush, true", "s3, s3.keys.file, keys", "s3, s3.tls, false",
    "resp or s3, doors.names.rate, 4 KiB"})
  void settingOfADoorThatIsOff_isRefused_unlessItIsTheDefault(String door, String key, String text) {
    Setting<?> setting = NodeSettings.ALL.stream().filter(one -> one.key().equals(key)).findFirst().orElseThrow();

    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), Map.of(setting, text)))
        .isInstanceOf(ConfigException.class)
        .hasMessage("%s must be an address for %s %s from %s (was off)", door, key, text, setting.flag());
    assertThat(NodeConfig.resolve(null, Map.of(), Map.of(setting, setting.initial())).states(setting)).isTrue();
    assertThat(NodeConfig.resolve(null, Map.of(), Map.of(setting, text, DoorSettings.RESP.listen(), "127.0.0.1:0",
        DoorSettings.S3.listen(), "127.0.0.1:0")).states(setting)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"ssd, off, a size", "exact, true, false", "ssd.offload.uses, 2, 0",
    "write.policy, write_through_selective, auto or write_through"})
  void settingWithWhichANodeWouldNotSaveAllBlocks_isRefusedBesideSave(String key, String text, String wanted) {
    Setting<?> setting = NodeSettings.ALL.stream().filter(one -> one.key().equals(key)).findFirst().orElseThrow();
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(NodeSettings.SSD_SAVE, "true", NodeSettings.SSD, "1GiB",
        NodeSettings.SSD_DIR, "/tmp/of-no-node"));
    assertThat(NodeConfig.resolve(null, Map.of(), flags).get(NodeSettings.SSD_SAVE)).isTrue();
    flags.put(setting, text);
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), flags)).isInstanceOf(ConfigException.class)
        .hasMessageContaining("%s must be %s for ssd.save true from --ssd-save (was %s, from %s)".formatted(key, wanted,
            text, setting.flag()));
  }

  @Test
  void names_areUniqueInEverySource() {
    Set<String> names = new HashSet<>();
    for (Setting<?> setting : NodeSettings.ALL) {
      assertThat(List.of(setting.key(), setting.variable(), setting.flag()))
          .allSatisfy(name -> assertThat(names.add(name)).isTrue());
      assertThat(setting.description()).endsWith(".");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"block: {bytes: 1MiB, tokens: 32}", "block.bytes: 1MiB\nblock.tokens: 32",
    "block:\n  bytes: 1 MiB\n  tokens: 32\n"})
  void file_keysMayBeNestedOrDotted(String yaml) throws IOException {
    CacheSpace space = NodeConfig.resolve(file(yaml), Map.of(), Map.of()).space();

    assertThat(space.layout().blockBytes()).isEqualTo(1 << 20);
    assertThat(space.layout().tokens()).isEqualTo(32);
  }

  @Test
  void fingerprint_isOfTheSpace_ofTheNodeOrOfEachOfSeveral() throws IOException {
    CacheSpace plain = NodeConfig.defaults().space();
    Map<Setting<?>, String> flag = Map.of(LayoutSettings.FINGERPRINT, "sha256:1 vllm 0.11");

    assertThat(plain.fingerprint()).isEmpty();
    CacheSpace space = NodeConfig.resolve(null, Map.of(), flag).space();
    assertThat(space).isEqualTo(plain.withFingerprint("sha256:1 vllm 0.11")).isNotEqualTo(plain);
    assertThat(LayoutSettings.words(space)).isEqualTo(LayoutSettings.words(plain) + ", fingerprint sha256:1 vllm 0.11");
    assertThat(LayoutSettings.flags(space)).endsWith("--fingerprint", "sha256:1 vllm 0.11");
    assertThat(LayoutSettings.flags(plain)).doesNotContain("--fingerprint");
    assertThat(NodeConfig.resolve(null, Map.of("PENSTOCK_FINGERPRINT", "none"), Map.of()).space()).isEqualTo(plain);
    Path file = file("dram: 1GiB\nfingerprint: w1\nspaces:\n  old: {model: llama-3.1-8b}\n"
        + "  new: {model: llama-3.1-8b, fingerprint: w2}\n");
    assertThat(NodeConfig.resolve(file, Map.of(), Map.of()).spaces()).extracting(one -> one.space().fingerprint())
        .containsExactly("w1", "w2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing\n", "---\n", "{}"})
  void file_thatSaysNothing_isFine(String yaml) throws IOException {
    assertThat(NodeConfig.resolve(file(yaml), Map.of(), Map.of()).layout().layers()).isEqualTo(8);
  }

  @Test
  void file_canBeNamedByTheEnvironment() throws IOException {
    Path file = file("layers: 2");

    assertThat(
        NodeConfig.resolve(null, Map.of("PENSTOCK_CONFIG", file.toString()), Map.of()).get(LayoutSettings.LAYERS))
        .contains(2);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "layers: none | layers must be an integer from 1 to 1024, or auto (was none, from FILE line 1)",
    "layers: 0 | layers must be an integer from 1 to 1024, or auto (was 0, from FILE line 1)",
    "layers: '' | layers must be an integer from 1 to 1024, or auto (was empty, from FILE line 1)",
    "layers: | layers must be one value (was empty, from FILE line 1)",
    "layers: [1, 2] | layers must be one value (was a list, from FILE line 1)",
    "layers: {a: 1} | layers must be one value (was a map, from FILE line 1)",
    "layer: 8 | key must be one that `penstock serve --help` lists (was layer, from FILE line 1; did you mean layers?)",
    "block: {byte: 8} | key must be one that `penstock serve --help` lists (was block.byte, from FILE line 1; did "
        + "you mean block.bytes?)",
    "colour: red | key must be one that `penstock serve --help` lists (was colour, from FILE line 1)",
    "[1, 2] | config must be a map of keys to values (was a list, from FILE line 1)",
    "just text | config must be a map of keys to values (was a single value, from FILE line 1)",
    "block.bytes: 100 | block.bytes must be a multiple of 32 B, which is layers 8 x block.tokens 1 x 2 planes x 2 B, "
        + "and at most 1 GiB (was 100 B, from FILE line 1)",
    "{block.bytes: 64KiB, block.tokens: 7} | block.bytes must be a multiple of 224 B, which is layers 8 x "
        + "block.tokens 7 x 2 planes x 2 B, and at most 1 GiB (was 64 KiB, from FILE line 1)",
    "{block.bytes: 64KiB, kv.heads: 8} | kv.heads must be auto with block.bytes 64 KiB from FILE line 1 (was 8, from "
        + "FILE line 1)",
    "{block.bytes: 64KiB, dtype: fp16} | dtype must be bf16 with block.bytes 64 KiB from FILE line 1 (was fp16, from "
        + "FILE line 1)",
    "{model: llama-3.1-8b, block.bytes: 2MiB} | block.bytes must be auto with model llama-3.1-8b from FILE line 1, "
        + "which has a layout of its own (was 2 MiB, from FILE line 1)",
    "{latent.rank: 512, kv.heads: 8, rope.dim: 64} | kv.heads must be auto with latent.rank 512 from FILE line 1 "
        + "(was 8, from FILE line 1)",
    "latent.rank: 512 | rope.dim must be given with latent.rank 512 from FILE line 1 (was auto, from default)",
    "{model: deepseek-v3, head.dim: 128} | head.dim must be auto with model deepseek-v3 from FILE line 1 (was 128, "
        + "from FILE line 1)",
    "{model: llama-3.1-8b, rope.dim: 64} | rope.dim must be auto with model llama-3.1-8b from FILE line 1 (was 64, "
        + "from FILE line 1)",
    "kv.heads: 1000000 | bytes of plane KEY must be <= 1 GiB (was 4096000000)",
    "dtype: fp12 | dtype must be one of bf16, fp16, fp32, fp8_e4m3, fp8_e5m2, int8 (was fp12, from FILE line 1)",
    "block.bytes: 2GiB | block.bytes must be a size from 4 B to 1 GiB, or auto (was 2GiB, from FILE line 1)",
    "dram: much | dram must be a size, \"N blocks\", unbounded, or 0 for off (was much, from FILE line 1)",
    "dram: 0 | one of hbm, dram and ssd must be > 0 (all are off)",
    "ssd: 1GiB | ssd.dir must be a folder when ssd is on (was none, from default)",
    "hbm.device: ascend | hbm must be > 0 for hbm.device ascend from FILE line 1 (was off, from default)",
    "{hbm: 1GiB, hbm.device: gpu} | hbm.device must be one of sim, ascend (was gpu, from FILE line 1)",
    "{hbm: 1GiB, ascend.device: -1} | ascend.device must be an integer from 0 to 1023 (was -1, from FILE line 1)",
    "{dram: unbounded, memory.pages: huge} | dram must be bounded for memory.pages huge from FILE line 1, which "
        + "takes all of it at the start (was unbounded, from FILE line 1)",
    "memory.pages: large | memory.pages must be one of auto, huge, plain, shared (was large, from FILE line 1)",
    "memory.numa: -1 | memory.numa must be an integer from 0 to 1023, or none (was -1, from FILE line 1)",
    "write.policy: write_back | ssd must be > 0 for write.policy write_back from FILE line 1 (was off, from default)",
    "{write.policy: write_back, stack.mode: write_through, ssd: 4GiB, ssd.dir: x} | stack.mode must be exclusive for "
        + "write.policy write_back from FILE line 1 (was write_through, from FILE line 1)",
    "{write.policy: write_through, ssd.offload.uses: 3, ssd: 4GiB, ssd.dir: x} | ssd.offload.uses must be 0 for "
        + "write.policy write_through from FILE line 1 (was 3, from FILE line 1)",
    "{write.policy: write_through_selective, ssd.offload.uses: 0, ssd: 4GiB, ssd.dir: x} | ssd.offload.uses must be > 0"
        + " for write.policy write_through_selective from FILE line 1 (was 0, from FILE line 1)",
    "{dram.high: 70, dram.low: 75} | dram.high must be >= dram.low 75 from FILE line 1 (was 70, from FILE line 1)",
    "stack.mode: write_through | ssd must be > 0 to be written through to (was off, from default)",
    "{ssd: 1GiB, ssd.dir: x, ssd.segment.bytes: 1MiB, block.bytes: 128KiB} | ssd.segment.bytes must be >= 8 records "
        + "of a block, 1049856 B (was 1 MiB, from FILE line 1)",
    "dram: 1KiB | dram must be >= one block of 64 KiB (was 1 KiB, from FILE line 1)",
    "policy: random | policy must be one of lru, lfu, fifo, s3_fifo, w_tinylfu, arc, length_aware, cost_aware, "
        + "reuse_aware, adaptive, sessions (was random, from FILE line 1)",
    "await.timeout: 5 | await.timeout must be a duration of at least 1ms, such as 500ms, 30s or 2m (was 5, from FILE "
        + "line 1)",
    "drain.timeout: 0s | drain.timeout must be a duration of at least 1ms, such as 500ms, 30s or 2m (was 0s, from "
        + "FILE line 1)",
    "admin.port: -1 | admin.port must be an integer from 0 to 65535, 0 for any free one, or off (was -1, from FILE "
        + "line 1)",
    "log.level: loud | log.level must be one of off, error, warn, info, debug (was loud, from FILE line 1)",
    "model: ' ' | model must be not empty (was empty, from FILE line 1)",
    "budget: 4KiB | budget must be >= 2 slices, one in and one out, of slice.bytes 512 KiB from default (was 4 KiB, "
        + "from FILE line 1)",
    "listen.host: 0.0.0.0 | listen.host must be an address of this host alone, such as 127.0.0.1, for connections have "
        + "neither TLS nor authentication; --open-to-network allows others (was 0.0.0.0, from FILE line 1)",
    "frames.bytes: 1MiB | frames.bytes must be >= 2 frames of the longest, 2812592 B (was 1 MiB, from FILE line 1)",
    "setup.timeout: 5 | setup.timeout must be a duration of at least 1ms, such as 500ms, 30s or 2m (was 5, from FILE "
        + "line 1)",
    "budget: 1 | budget must be a size of at least 1 KiB (was 1, from FILE line 1)",
    "window.blocks: 999 | reserve.blocks must be >= window.blocks 999 from FILE line 1 (was 128, from default)",
  })
  void file_thatMakesNoSense_namesKeyRuleValueAndPlace(String yaml, String problem) throws IOException {
    Path file = file(yaml);

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of())).isInstanceOf(ConfigException.class)
        .hasMessage(problem.replace("FILE", file.toString()));
  }

  @ParameterizedTest
  @CsvSource({"127.0.0.1, false", "127.8.9.1, false", "::1, false", "localhost, false", "0.0.0.0, true",
    "10.1.2.3, true", "::, true", "node7.example, true"})
  void listenHost_beyondThisHost_needsTheFlag(String host, boolean needsFlag) {
    Map<Setting<?>, String> closed = Map.of(NodeSettings.LISTEN_HOST, host);
    Map<Setting<?>, String> open = Map.of(NodeSettings.LISTEN_HOST, host, NodeSettings.OPEN_TO_NETWORK, "true");

    assertThat(NodeConfig.resolve(null, Map.of(), open).get(NodeSettings.LISTEN_HOST)).isEqualTo(host);
    if (needsFlag) {
      assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), closed)).isInstanceOf(ConfigException.class)
          .hasMessageContaining("(was " + host + ", from --listen-host)");
    } else {
      assertThat(NodeConfig.resolve(null, Map.of(), closed).get(NodeSettings.LISTEN_HOST)).isEqualTo(host);
    }
  }

  @Test
  void file_ofBytes_isNoYaml_inPlainWords() throws IOException {
    Path file = file("");
    Files.write(file, new byte[] {0x7f, 'E', 'L', 'F', 2, (byte) 0xe2, 'a', 0, (byte) 0xff});

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of())).isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("config must be YAML (was not, from " + file + " line 1): Invalid UTF-8");
  }

  @Test
  void file_withoutYaml_namesTheLine() throws IOException {
    Path file = file("layers: 8\nblock: {bytes: 1\n");

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of())).isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("config must be YAML (was not, from " + file + " line ");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"block:\\n\\tbytes: 64KiB | 2", "layers: 8\\nblock:\\n \\tbytes: 64KiB | 3",
    "layers:\\t@8 | 1"})
  void file_withATab_saysSo(String yaml, int line) throws IOException {
    Path file = file(yaml.translateEscapes());

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of())).isInstanceOf(ConfigException.class)
        .hasMessage("config must be YAML (was not, from %s line %d): a tab stands where YAML takes only spaces", file,
            line);
  }

  @Test
  void file_withAKeyTwice_isRefused() throws IOException {
    Path file = file("layers: 8\nblock.bytes: 64KiB\nblock: {bytes: 1MiB}\n");

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of()))
        .hasMessage("block.bytes must be given once (was given again, from " + file + " line 3)");
  }

  @Test
  void wrongValuesAndRulesBrokenByOthers_areToldAtOnce() {
    assertThatThrownBy(() -> NodeConfig.resolve(null,
        Map.of("PENSTOCK_LOOPS", "0", "PENSTOCK_SSD", "1GiB", "PENSTOCK_SSD_DISK_LOW", "95",
            "PENSTOCK_HBM", "3"),
        Map.of())).message().satisfies(message -> assertThat(message.lines()).containsExactlyInAnyOrder(
            "loops must be an integer from 1 to 1024 (was 0, from PENSTOCK_LOOPS)",
            "hbm must be >= one block of 64 KiB (was 3 B, from PENSTOCK_HBM)",
            "ssd.dir must be a folder when ssd is on (was none, from default)",
            "ssd.disk.high must be >= ssd.disk.low 95 from PENSTOCK_SSD_DISK_LOW (was 90, from default)"));
  }

  @Test
  void writePolicy_namesModeAndUses_whichStayFineTuning() {
    Map<Setting<?>, String> disk = Map.of(NodeSettings.SSD, "4GiB", NodeSettings.SSD_DIR, "x");
    assertWriting(disk, Mode.EXCLUSIVE, 0, 0.9, 0.8);
    assertWriting(with(disk, NodeSettings.WRITE_POLICY, "write-back"), Mode.EXCLUSIVE, 0, 0.9, 0.8);
    assertWriting(with(disk, NodeSettings.WRITE_POLICY, "write_through"), Mode.WRITE_THROUGH, 0, 1, 0.8);
    Map<Setting<?>, String> selective = with(disk, NodeSettings.WRITE_POLICY, "write_through_selective");
    assertWriting(selective, Mode.EXCLUSIVE, 2, 0.9, 0.8);
    assertWriting(with(selective, NodeSettings.SSD_OFFLOAD_USES, "5"), Mode.EXCLUSIVE, 5, 0.9, 0.8);
    assertWriting(with(disk, NodeSettings.DRAM_HIGH, "70"), Mode.EXCLUSIVE, 0, 0.7, 0.7);
    assertWriting(Map.of(), Mode.EXCLUSIVE, 0, 1, 0.8);
  }

  private static Map<Setting<?>, String> with(Map<Setting<?>, String> given, Setting<?> setting, String text) {
    Map<Setting<?>, String> more = new HashMap<>(given);
    more.put(setting, text);
    return more;
  }

  private static void assertWriting(Map<Setting<?>, String> given, Mode mode, int uses, double high, double low) {
    NodeConfig config = NodeConfig.resolve(null, Map.of(), given);
    assertThat(List.of(Writing.mode(config), Writing.offloadUses(config), Writing.memoryHigh(config),
        Writing.memoryLow(config))).as("%s", given).isEqualTo(List.of(mode, uses, high, low));
  }

  @Test
  void anySettingThatIsWrongByItself_leavesOutTheRulesAboutIt() {
    Map<Setting<?>, String> given = Map.of(NodeSettings.HBM, "1GiB", NodeSettings.HBM_DEVICE, "ascend",
        NodeSettings.SSD, "4GiB", NodeSettings.SSD_DIR,
        "x", NodeSettings.STACK_MODE, "write_through", AscendSettings.BUFFER_POOL, "2:1", AscendSettings.FABRIC_MEMORY,
        "true");
    for (Setting<?> wrong : NodeSettings.ALL) {
      Map<Setting<?>, String> flags = new HashMap<>(given);
      flags.put(wrong, "!");
      assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), flags)).as(wrong.key())
          .isInstanceOf(ConfigException.class);
    }
  }

  @Test
  void file_thatIsNotThere_isRefused() {
    Path file = folder.resolve("nowhere.yaml");

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of(), Map.of()))
        .hasMessage("config must be a readable file (was " + file + ", which is not there)");
  }

  @Test
  void environment_unknownVariable_isRefusedWithAGuess() {
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of("PENSTOCK_BLOCKBYTES", "1"), Map.of()))
        .hasMessage("variable must be one that "
            + "`penstock serve --help` lists (was PENSTOCK_BLOCKBYTES, from the environment; did you mean "
            + "PENSTOCK_BLOCK_BYTES?)");
  }

  @Test
  void environment_variablesOfTheLauncherAndOfKubernetes_areNotSettings() {
    Map<String, String> environment =
        Map.of("PENSTOCK_JAVA_HOME", "/jdk", "PENSTOCK_JAVA_OPTS", "-Xmx1g", "PENSTOCK_PORT", "tcp://10.0.0.1:7733",
            "PENSTOCK_SERVICE_HOST", "10.0.0.1", "PENSTOCK_SERVICE_PORT_WIRE", "7733", "PENSTOCK_PORT_7733_TCP_ADDR",
            "10.0.0.1", "PATH", "/bin");

    assertThat(NodeConfig.resolve(null, environment, Map.of()).effective()).allSatisfy(kind(Origin.Kind.DEFAULT));
  }

  @Test
  void everyProblem_isToldAtOnce_evenOfValuesThatAreOverruled() throws IOException {
    Path file = file("layers: none\nmodle: x\n");

    assertThatThrownBy(() -> NodeConfig.resolve(file, Map.of("PENSTOCK_LAYERS", "8"), Map.of(NodeSettings.LOOPS, "0")))
        .asInstanceOf(type(ConfigException.class)).satisfies(e -> assertThat(e.problems()).hasSize(3));
  }

  private static java.util.function.Consumer<NodeConfig.Effective> kind(Origin.Kind kind) {
    return one -> assertThat(one.origin().kind()).as(one.setting().key()).isEqualTo(kind);
  }

  private Path file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("node.yaml"), yaml);
  }

  @Test
  void everySettingOfTheDisk_hasARowInTheManual() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("docs", "settings.md")).stream().filter(line -> line.startsWith("| `")).toList();
    assertThat(NodeSettings.ALL.stream().map(Setting::key).filter(key -> key.startsWith("ssd"))).hasSizeGreaterThan(20)
        .allSatisfy(key -> assertThat(rows).as(key).anySatisfy(row -> assertThat(row).contains("`" + key + "`")));
  }
}
