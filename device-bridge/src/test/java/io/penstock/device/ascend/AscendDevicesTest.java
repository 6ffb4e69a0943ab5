package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.device.ascend.DriverDouble.Profile;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Which devices of a library a process has.
final class AscendDevicesTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static DriverDouble driver;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void reset() {
    driver.reset(3, 1 << 20);
  }

  private static AscendDevices find(Integer... visible) {
    return AscendDevices
        .find(AscendOptions.defaults().withLibrary(driver.path()).withVisibleDevices(List.of(visible)),
            AscendListener.noop())
        .orElseThrow();
  }

  @Test
  void visibleDevices_areCountedInTheirOrder_andNoOtherIsThere() {
    AscendDevices devices = find(2, 0);
    try {
      assertThat(devices.count()).isEqualTo(2);
      assertThat(physicalId(devices, 0)).isEqualTo(2);
      assertThat(physicalId(devices, 1)).isZero();
      assertThatThrownBy(() -> devices.open(2)).hasMessage("logicalId must be in [0, 2) (was 2)");
      assertThat(requireNonNull(devices.probe().block(LIMIT)).devices()).extracting(AscendProbe.DeviceFacts::physicalId)
          .containsExactly(2, 0);
    } finally {
      devices.close().block(LIMIT);
    }
  }

  private static int physicalId(AscendDevices devices, int index) {
    AscendDevice device = requireNonNull(devices.open(index).block(LIMIT));
    device.close().block(LIMIT);
    return device.physicalId();
  }

  @Test
  void visibleDeviceThatIsNotThere_isRefusedByName_andTheLibraryIsFinalised() {
    assertThatThrownBy(() -> find(1, 7)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("visibleDevices must be of this machine and process, [0, 1, 2] (was 7)");
    assertThat(driver.calls("aclInit")).isOne();
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void visibleDeviceGivenTwice_isRefused() {
    assertThatThrownBy(() -> find(1, 1)).hasMessage("visibleDevices must name each device once (was [1, 1])");
  }
}
