package io.penstock.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.AscendSetting;
import io.penstock.device.memory.StagingSpec;
import io.penstock.node.setting.Setting;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Settings that other programs have variables for.
final class AscendSettingsTest {
  private static NodeConfig with(Map<String, String> environment) {
    return NodeConfig.resolve(null, environment, Map.of());
  }

  private static NodeConfig.Effective effective(String key, Map<String, String> environment) {
    return with(environment).effective(NodeSettings.byKey(key).orElseThrow());
  }

  @Test
  void eachOfTheTable_isASetting_andNoOther() {
    assertThat(AscendSettings.ALL).extracting(Setting::key)
        .containsExactlyInAnyOrderElementsOf(Arrays.stream(AscendSetting.values()).map(AscendSetting::key).toList());
    assertThat(NodeSettings.ALL).containsAll(AscendSettings.ALL);
  }

  @Test
  void defaults_areThoseOfTheDevices() {
    assertThat(AscendSettings.options(NodeConfig.defaults())).isEqualTo(AscendOptions.defaults());
  }

  @ParameterizedTest
  @EnumSource
  void each_isReadByEachOfItsNames_theirWordInTurn(AscendSetting known) {
    String own = NodeSettings.byKey(known.key()).orElseThrow().variable();
    assertThat(effective(known.key(), Map.of(own, known.initial())).origin()).hasToString(own);
    String stronger = own;
    for (String alias : known.variables()) {
      assertThat(effective(known.key(), Map.of(alias, known.initial())).origin()).hasToString(alias);
      assertThat(effective(known.key(), Map.of(alias, known.initial(), stronger, known.initial())).origin())
          .hasToString(stronger);
      stronger = alias;
    }
  }

  @Test
  void fileAndFlag_areLikeThoseOfOtherSettings() {
    NodeConfig config = NodeConfig.resolve(null, Map.of("ASCEND_TRANSFER_TIMEOUT", "3000"),
        Map.of(AscendSettings.TRANSFER_TIMEOUT, "7s"));
    assertThat(config.effective(AscendSettings.TRANSFER_TIMEOUT).origin()).hasToString("--ascend-transfer-timeout");
  }

  @Test
  void options_areWhatWasSaid() {
    AscendOptions options = AscendSettings
        .options(with(Map.of("PENSTOCK_ASCEND_LIB", "/opt/libascendcl.so", "ASCEND_RT_VISIBLE_DEVICES", "4, 2",
            "ASCEND_TRANSFER_TIMEOUT", "3000", "PENSTOCK_ASCEND_QUEUE", "7", "PENSTOCK_ASCEND_UNSUPPORTED_FALLS_BACK",
            "yes",
            "ASCEND_ENABLE_USE_FABRIC_MEM", "1")));
    assertThat(options)
        .isEqualTo(AscendOptions.defaults().withLibrary("/opt/libascendcl.so").withVisibleDevices(List.of(4, 2))
            .withTransferTimeout(Duration.ofSeconds(3)).withMaxQueued(7).withLibraryUnsupportedFallsBack(true)
            .withShared(true));
  }

  @ParameterizedTest
  @CsvSource({"1,true", "TRUE,true", "yes,true", "on,true", "0,false", "false,false", "No,false", "off,false"})
  void flags_countByTheirValue(String text, boolean meant) {
    for (String variable : List.of("ASCEND_USE_ASYNC_TRANSFER", "ASCEND_ENABLE_USE_FABRIC_MEM", "ASCEND_AUTO_CONNECT",
        "HCCL_INTRA_ROCE_ENABLE")) {
      assertThat(with(Map.of(variable, text)).effective()).filteredOn(one -> one.origin().where().equals(variable))
          .singleElement().extracting(NodeConfig.Effective::text).isEqualTo(String.valueOf(meant));
    }
  }

  @Test
  void variableOfAnotherProgram_thatIsEmpty_saysNothing() {
    assertThat(effective("ascend.async.transfer", Map.of("ASCEND_USE_ASYNC_TRANSFER", " ")).isGiven()).isFalse();
    assertThat(effective("ascend.rdma.traffic.class", Map.of("ASCEND_RDMA_TC", "", "HCCL_RDMA_TC", "132")).origin())
        .hasToString("HCCL_RDMA_TC");
  }

  @ParameterizedTest
  @CsvSource({"ASCEND_CONNECT_TIMEOUT,1500,1500ms", "ASCEND_CONNECT_TIMEOUT,2m,2m", "Ascend_TCP_TIMEOUT,60,1m",
    "Ascend_TCP_TIMEOUT,500ms,500ms"})
  void plainNumber_hasTheUnitOfItsVariable(String variable, String text, String meant) {
    assertThat(with(Map.of(variable, text)).effective()).filteredOn(NodeConfig.Effective::isGiven)
        .extracting(NodeConfig.Effective::text)
        .containsExactly(meant);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "ASCEND_THREAD_POOL_SIZE | 0 | ascend.thread.pool.size must be an integer from 1 to 16",
    "ASCEND_THREAD_POOL_SIZE | 17 | ascend.thread.pool.size must be an integer from 1 to 16",
    "ASCEND_TRANSFER_TIMEOUT | 0 | ascend.transfer.timeout must be a duration such as 500ms, 30s or 2m, or a number "
        + "of milliseconds, and at most 24 days",
    "ASCEND_TRANSFER_TIMEOUT | 2147483648 | ascend.transfer.timeout must be a duration such as",
    "ASCEND_TRANSFER_TIMEOUT | -1 | ascend.transfer.timeout must be a duration such as",
    "ASCEND_USE_ASYNC_TRANSFER | maybe | ascend.async.transfer must be true or false, 1 or 0, yes or no, on or off",
    "ASCEND_BUFFER_POOL | 4 | ascend.buffer.pool must be a number of buffers and their size in MiB such as 4:8, or "
        + "0:0 for none",
    "ASCEND_BUFFER_POOL | 4:0 | ascend.buffer.pool must be a number of buffers",
    "ASCEND_BUFFER_POOL | -1:8 | ascend.buffer.pool must be a number of buffers",
    "ASCEND_BASE_PORT | 65536 | ascend.base.port must be an integer from 1 to 65535",
    "HCCL_RDMA_TC | 3 | ascend.rdma.traffic.class must be an integer from 0 to 255 that 4 divides, or none",
    "ASCEND_RDMA_SL | 8 | ascend.rdma.service.level must be an integer from 0 to 7, or none",
    "HCCL_RDMA_TIMEOUT | 4 | ascend.rdma.timeout must be an integer from 5 to 24, or none",
    "HCCL_RDMA_RETRY_CNT | 8 | ascend.rdma.retries must be an integer from 1 to 7, or none",
    "ASCEND_RT_VISIBLE_DEVICES | 1,1 | ascend.visible.devices must be numbers of devices such as 0,1,3, each once, "
        + "or all",
    "ASCEND_RT_VISIBLE_DEVICES | 0,,1 | ascend.visible.devices must be numbers of devices",
    "ASCEND_RT_VISIBLE_DEVICES | npu0 | ascend.visible.devices must be numbers of devices",
    "ASCEND_RT_VISIBLE_DEVICES | -1 | ascend.visible.devices must be numbers of devices",
    "ASCEND_GLOBAL_RESOURCE_CONFIG | {broken | ascend.global.resource.config must be a JSON object, or none",
    "ASCEND_GLOBAL_RESOURCE_CONFIG | [] | ascend.global.resource.config must be a JSON object, or none",
    "ASCEND_LOCAL_COMM_RES | {} {} | ascend.local.comm.res must be a JSON object, or none",
    "MC_UBSHMEM_THREAD_POOL_SIZE | 65 | ascend.ubshmem.threads must be an integer from 1 to 64"
  })
  void valueThatMakesNoSense_isRefusedNamingItsVariable(String variable, String text, String rule) {
    assertThatThrownBy(() -> with(Map.of(variable, text))).isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(rule)
        .hasMessageEndingWith("(was " + text + ", from " + variable + ")");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "ASCEND_USE_ASYNC_TRANSFER | 1 | ascend.async.transfer true from ASCEND_USE_ASYNC_TRANSFER",
    "ASCEND_ENABLE_USE_FABRIC_MEM | on | ascend.fabric.memory true from ASCEND_ENABLE_USE_FABRIC_MEM",
    "ASCEND_GLOBAL_RESOURCE_CONFIG | {\"fabric_memory.max_capacity\":32} | ascend.global.resource.config "
        + "{\"fabric_memory.max_capacity\":32} from ASCEND_GLOBAL_RESOURCE_CONFIG",
    "ASCEND_GLOBAL_RESOURCE_CONFIG | {\"store\":{\"fabric_memory\":{}}} | ascend.global.resource.config "
        + "{\"store\":{\"fabric_memory\":{}}} from ASCEND_GLOBAL_RESOURCE_CONFIG"
  })
  void whatExcludesABufferPool_isRefusedNamingBoth(String variable, String text, String other) {
    assertThatThrownBy(() -> with(Map.of("ASCEND_BUFFER_POOL", "4:8", variable, text)))
        .isInstanceOf(ConfigException.class)
        .hasMessage("ascend.buffer.pool must be 0:0 with " + other + " (was 4:8, from ASCEND_BUFFER_POOL)");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "PENSTOCK_MEMORY_NUMA | 3 | memory.numa must be even for hbm.device ascend from PENSTOCK_HBM_DEVICE: other nodes "
        + "have no memory for devices",
    "PENSTOCK_DRAM | unbounded | dram must be bounded for ascend.fabric.memory true from "
        + "ASCEND_ENABLE_USE_FABRIC_MEM, which takes all of it at the start",
    "PENSTOCK_MEMORY_PAGES | plain | memory.pages must be auto for ascend.fabric.memory true from "
        + "ASCEND_ENABLE_USE_FABRIC_MEM, which has pages of its own"
  })
  void memoryThatADeviceCannotHave_isRefusedNamingBoth(String variable, String text, String rule) {
    Map<String, String> environment = Map.of("PENSTOCK_HBM", "8 blocks", "PENSTOCK_HBM_DEVICE", "ascend",
        "ASCEND_ENABLE_USE_FABRIC_MEM", "1", variable, text);
    assertThatThrownBy(() -> with(environment)).isInstanceOf(ConfigException.class)
        .hasMessage(rule + " (was " + text + ", from " + variable + ")");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "false", "off"})
  void whatIsOff_excludesNothing(String off) {
    assertThat(
        with(Map.of("ASCEND_BUFFER_POOL", "4:8", "ASCEND_USE_ASYNC_TRANSFER", off, "ASCEND_ENABLE_USE_FABRIC_MEM", off))
            .get(AscendSettings.BUFFER_POOL))
        .isEqualTo(new StagingSpec(4, 8 << 20));
    assertThat(with(Map.of("ASCEND_BUFFER_POOL", "0:0", "ASCEND_USE_ASYNC_TRANSFER", "1"))
        .get(AscendSettings.BUFFER_POOL).isOff()).isTrue();
  }

  @Test
  void settingWithoutEffect_saysSoWhenItIsGiven_andNotOtherwise() {
    assertThat(NodeConfig.defaults().withoutEffect()).isEmpty();
    assertThat(with(Map.of("ASCEND_BASE_PORT", "20000", "ASCEND_CONNECT_TIMEOUT", "10000", "ASCEND_BUFFER_POOL", "4:8"))
        .withoutEffect()).isEmpty();
    assertThat(with(Map.of("ASCEND_BASE_PORT", "21000", "ASCEND_TRANSFER_TIMEOUT", "3000")).withoutEffect())
        .containsExactly(
            "ascend.base.port has no effect here because Penstock makes no links between devices: blocks travel "
                + "between nodes over RSocket (was 21000, from ASCEND_BASE_PORT)");
  }
}
