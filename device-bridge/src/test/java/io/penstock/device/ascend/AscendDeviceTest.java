package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.device.Device;
import io.penstock.device.DeviceContract;
import io.penstock.device.ascend.DriverDouble.Profile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/// The contract of a device, kept by one behind a library.
final class AscendDeviceTest extends DeviceContract {
  private static DriverDouble driver;

  private final List<AscendDevices> found = new ArrayList<>();

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @Override
  protected Device openDevice(int ordinal, long capacityBytes) {
    if (found.isEmpty()) {
      driver.reset(2, capacityBytes);
      found.add(
          AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow());
    }
    return requireNonNull(found.getFirst().open(ordinal).block(LIMIT));
  }

  @AfterEach
  void nothingIsLeft() {
    if (!found.isEmpty()) {
      found.getFirst().close().block(LIMIT);
    }
  }
}
