package io.penstock.node.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.ascend.CopyMethod;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock device`: what it says, and with which exit code, over a double of the driver.
@Timeout(60)
final class DeviceCommandTest {
  private static final JsonMapper JSON = JsonMapper.shared();

  private static DriverDouble driver;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void reset() {
    driver.reset(2, 1L << 30);
  }

  private static CommandLineRun run(String verb, String... flags) {
    String[] line = new String[flags.length + 4];
    System.arraycopy(new String[] {"device", verb, "--ascend-lib", driver.path()}, 0, line, 0, 4);
    System.arraycopy(flags, 0, line, 4, flags.length);
    return CommandLineRun.of(line);
  }

  private static JsonNode json(CommandLineRun run) throws IOException {
    return JSON.readTree(run.out());
  }

  @Test
  void probe_tellsLibraryChipDevicesAndFeatures() throws IOException {
    CommandLineRun table = run("probe");
    assertThat(table.exitCode()).as(table.err()).isZero();
    assertThat(table.out()).startsWith("library " + driver.path() + ", like CANN 9.x, chip Ascend910B-double")
        .contains("1.00 GiB", "fabric_memory");

    JsonNode found = json(run("probe", "--json"));
    assertThat(found.get("devices")).hasSize(2);
    assertThat(found.get("devices").get(1).get("physicalId").asInt()).isOne();
    assertThat(found.get("features")).allMatch(feature -> feature.get("on").asBoolean());
  }

  @Test
  void probe_tellsWhatIsSet_andWhoSaidSo() throws IOException {
    Map<String, String> environment = Map.of("ASCEND_RT_VISIBLE_DEVICES", "1", "HCCL_RDMA_SL", "5");
    CommandLineRun table =
        CommandLineRun.with(environment, new byte[0], "device", "probe", "--ascend-lib", driver.path());
    assertThat(table.exitCode()).as(table.err()).isZero();
    assertThat(table.out()).containsPattern("ascend\\.lib +" + driver.path() + " +--ascend-lib\n")
        .containsPattern("ascend\\.visible\\.devices +1 +ASCEND_RT_VISIBLE_DEVICES\n")
        .containsPattern("ascend\\.queue +1024 +default\n")
        .contains("ascend.rdma.service.level has no effect here because ");

    JsonNode found = JSON.readTree(CommandLineRun
        .with(environment, new byte[0], "device", "probe", "--ascend-lib", driver.path(), "--json").out());
    assertThat(found.get("devices")).singleElement().extracting(device -> device.get("physicalId").asInt())
        .isEqualTo(1);
    assertThat(found.get("settings"))
        .anyMatch(row -> row.get("origin").asString().equals("HCCL_RDMA_SL") && row.get("noEffect").isString());
  }

  @ParameterizedTest
  @EnumSource
  void probe_tellsTheReleaseByWhatIsMissing(Profile profile) throws IOException {
    DriverDouble other = DriverDouble.of(profile);
    JsonNode found = json(CommandLineRun.of("device", "probe", "--ascend-lib", other.path(), "--json"));
    assertThat(found.get("release").asString()).isEqualTo(switch (profile) {
      case CANN_82 -> "8.2";
      case CANN_83 -> "8.3";
      case CANN_90 -> "9.x";
    });
  }

  @Test
  void probe_withoutALibrary_saysWhereItLookedAndEndsWith69() throws IOException {
    CommandLineRun none = CommandLineRun.of("device", "probe", "--ascend-lib", "/nowhere/libascendcl.so");
    assertThat(none.exitCode()).isEqualTo(69);
    assertThat(none.out())
        .isEqualTo("no Ascend devices: looked for /nowhere/libascendcl.so; --ascend-lib names another library\n");
    assertThat(json(CommandLineRun.of("device", "probe", "--json", "--ascend-lib", "/nowhere/libascendcl.so"))
        .get("found").asBoolean())
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({"h2d, batch, 3", "d2h, batch, 3", "d2d, single, 0", "h2h, single, 0"})
  void copy_eachWay_tellsTheCallsThatMadeIt(String direction, String method, int calls) throws IOException {
    CommandLineRun run = run("copy", "--elements", "10000", "--bytes", "512", "--direction", direction, "--verify",
        "--rounds", "3", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode result = json(run);
    assertThat(result.get("method").asString()).isEqualTo(method);
    assertThat(result.get("calls").asInt()).isEqualTo(calls);
    assertThat(result.get("failed").asInt()).isZero();
    assertThat(result.get("differing").asInt()).isZero();
    assertThat(result.get("gigabytesPerSecond").asDouble()).isPositive();
  }

  @Test
  void copy_mixed_makesAllFourWaysInOneRequest() throws IOException {
    JsonNode result = json(run("copy", "--elements", "1000", "--bytes", "4KiB", "--mixed", "--verify", "--json"));
    assertThat(result.get("method").asString()).isEqualTo("batch, single");
    assertThat(result.get("calls").asInt()).isEqualTo(2);
    assertThat(result.get("elementsPerCall").asInt()).isEqualTo(250);
    assertThat(result.get("singleCalls").asInt()).isEqualTo(500);
    assertThat(result.get("differing").asInt()).isZero();
    assertThat(driver.copied(CopyMethod.SYNC)).isEqualTo(250);
    assertThat(driver.copied(CopyMethod.ASYNC)).isEqualTo(250);
  }

  @Test
  void copy_thatFails_endsWith1AndTellsHowMany() {
    driver.fail("aclrtMemcpyBatch", 1, 1, 507_056, 3);
    CommandLineRun run = run("copy", "--elements", "5000", "--bytes", "512");
    assertThat(run.exitCode()).isOne();
    assertThat(run.out()).contains("FAILED").contains("4,096");
  }

  @Test
  void copy_whereTheBatchCallIsNotSupported_tellsTheFallback() throws IOException {
    driver.batchUnsupported(0);
    JsonNode result = json(run("copy", "--elements", "100", "--bytes", "512", "--verify", "--json"));
    assertThat(result.get("fallbacks").asInt()).isOne();
    assertThat(result.get("method").asString()).isEqualTo("single");
  }

  @Test
  void copy_tellsTheTotal_beforeMemoryIsAsked_andInTheTable() throws IOException {
    CommandLineRun run = run("copy", "--elements", "2000", "--bytes", "4KiB");
    assertThat(run.err())
        .isEqualTo("2,000 elements of 4 KiB, 7.81 MiB in all, take twice that of host memory and of the device\n");
    assertThat(run.out()).contains("TOTAL").containsPattern("2,000 +4 KiB +7.81 MiB");
    assertThat(json(run("copy", "--elements", "2000", "--bytes", "4KiB", "--json")).get("totalBytes").asLong())
        .isEqualTo(2000 * 4096);
  }

  @Test
  void copy_forWhichThereIsNoMemory_endsWith69AndTellsTheTotal() {
    CommandLineRun run = run("copy", "--elements", "4096", "--bytes", "256KiB");
    assertThat(run.exitCode()).as(run.err()).isEqualTo(69);
    assertThat(run.err()).contains(
        "device copy: memory for --elements x --bytes must be had (was refused): 4,096 elements of 256 KiB, 1.00 GiB "
            + "in all, take twice that");
    assertThat(run.out()).isEmpty();
  }

  @Test
  void copy_withoutALibrary_endsWith69() {
    CommandLineRun run = CommandLineRun.of("device", "copy", "--ascend-lib", "/nowhere/libascendcl.so");
    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).contains(
        "a library of Ascend devices must be there, or be named with --ascend-lib (looked for "
            + "/nowhere/libascendcl.so)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--elements=0", "--bytes=0", "--bytes=1e9", "--rounds=0", "--device=-1", "--device=7"})
  void copy_ofWhatMakesNoSense_isRefusedByName(String flag) {
    CommandLineRun run = run("copy", flag);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(flag.substring(0, flag.indexOf('=')));
  }
}
