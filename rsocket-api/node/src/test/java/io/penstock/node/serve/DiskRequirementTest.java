package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.tiers.DiskRoom;
import io.penstock.storage.engine.DiskSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a node is told at its start about a disk level that its disk has no room for.
final class DiskRequirementTest {
  private static final long GIB = 1L << 30;
  private static final DiskSpace DISK = new DiskSpace(100 * GIB, 40 * GIB);

  @TempDir
  Path folder;

  private NodeConfig config(String ssd, Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(more);
    flags.put(NodeSettings.SSD, ssd);
    flags.put(NodeSettings.SSD_DIR, folder.toString());
    return NodeConfig.resolve(null, Map.of(), flags);
  }

  @Test
  void levelLargerThanItsDisk_isRefused_withAllNumbers() {
    assertThatThrownBy(() -> DiskRequirement.require(new DiskRoom(DISK, GIB), config("95GiB", Map.of())))
        .isInstanceOf(ConfigException.class)
        .hasMessage("ssd must be <= 31.0 GiB, the room for it on its disk: 40.0 GiB of 100 GiB are free, of which "
            + "ssd.keep.free 256 MiB and ssd.disk.high 90 % leave 30.0 GiB, and the folder holds 1.00 GiB "
            + "(was 95 GiB, from --ssd). Files take up to 1.5 times what their blocks do, so 20.7 GiB fit at any time");
  }

  @Test
  void levelWithBlocks_startsOnADiskThatOthersHaveFilled() {
    DiskSpace full = new DiskSpace(100 * GIB, GIB);
    assertThatCode(() -> DiskRequirement.require(new DiskRoom(full, 40 * GIB), config("80GiB", Map.of())))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> DiskRequirement.require(new DiskRoom(full, 0), config("80GiB", Map.of())))
        .hasMessageContaining("ssd must be <= 0 B");
  }

  @Test
  void blocks_areThoseOfTheModel() {
    NodeConfig large = config("10000 blocks", Map.of(LayoutSettings.MODEL, "gemma-3-27b")); // 7.75 MiB for all groups

    assertThatThrownBy(() -> DiskRequirement.require(new DiskRoom(DISK, 0), large))
        .hasMessageContaining("(was 10000 blocks");
  }

  @Test
  void blocks_countAsTheirBytes_andKeepFree_isLeft() {
    NodeConfig blocks = config("1000000 blocks", Map.of());
    NodeConfig kept = config("31GiB", Map.of(NodeSettings.SSD_DISK_HIGH, "100", NodeSettings.SSD_KEEP_FREE, "10GiB"));

    assertThatThrownBy(() -> DiskRequirement.require(new DiskRoom(DISK, 0), blocks))
        .hasMessageContaining("(was 1000000 blocks");
    assertThatThrownBy(() -> DiskRequirement.require(new DiskRoom(DISK, 0), kept))
        .hasMessageContaining("must be <= 30.0 GiB");
  }

  @Test
  void levelThatFits_withWhatTheFolderHas_isTaken_andOneWithoutABound() {
    assertThatCode(() -> {
      DiskRequirement.require(new DiskRoom(DISK, GIB), config("31GiB", Map.of()));
      DiskRequirement.require(new DiskRoom(DISK, 0), config("unbounded", Map.of()));
      DiskRequirement.require(new DiskRoom(DISK, 0), config("40GiB",
          Map.of(NodeSettings.SSD_DISK_HIGH, "100", NodeSettings.SSD_KEEP_FREE, "0")));
    }).doesNotThrowAnyException();
  }

  @Test
  void filesThatMayNeedMoreThanTheirBlocks_areToldAtTheStart() {
    assertThat(DiskRequirement.doubt(new DiskRoom(DISK, 0), config("29GiB", Map.of())))
        .hasValue(
            "level ssd may keep fewer blocks than stated (29 GiB): its files take up to 43.5 GiB, and its disk has "
                + "room for 30.0 GiB. Up to ssd = 20.0 GiB fits at any time");
    assertThat(DiskRequirement.doubt(new DiskRoom(DISK, 0), config("20GiB", Map.of()))).isEmpty();
    assertThat(DiskRequirement.doubt(new DiskRoom(DISK, 0), config("unbounded", Map.of()))).isEmpty();
    Map<Setting<?>, String> bounded = Map.of(NodeSettings.SSD_CAPACITY, "30GiB");
    assertThat(DiskRequirement.doubt(new DiskRoom(DISK, 0), config("29GiB", bounded))).isEmpty();
  }

  @Test
  void folder_countsItsFiles_alsoBelow_andMayBeMissing() throws IOException {
    Files.write(Files.createDirectories(folder.resolve("space")).resolve("file"), new byte[1000]);

    assertThat(DiskRoom.of(folder).heldBytes()).isEqualTo(1000);
    assertThat(DiskRoom.of(folder.resolve("not/there")).heldBytes()).isZero();
    assertThat(DiskRoom.of(folder.resolve("not/there")).disk().totalBytes()).isPositive();
  }

  @Test
  void node_isRefused_beforeItTakesAPort() {
    assertThatThrownBy(() -> Node.start(config("1000000GiB", Map.of())).block()).isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("ssd must be <= ").hasMessageContaining("(was 1000000 GiB, from --ssd)");
  }
}
