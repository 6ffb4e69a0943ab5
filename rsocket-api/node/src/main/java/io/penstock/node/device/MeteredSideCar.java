package io.penstock.node.device;

import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.meter.PenstockMeters;
import io.penstock.meter.SideCarMeters;
import java.util.Locale;

/// Shows the clients and the work of the side-car of a node.
public final class MeteredSideCar {
  private MeteredSideCar() {}

  public static void show(PenstockMeters registry, SideCarServer server) {
    SideCarMeters meters = registry.sideCar(() -> server.stat().clients(), () -> server.stat().regions(),
        () -> server.stat().bytes());
    meters.copied(() -> server.stat().copies(), () -> server.stat().copiedBytes());
    for (SideCarCode code : SideCarCode.values()) {
      if (code.isOnTheWire()) {
        meters.failed(code.name().toLowerCase(Locale.ROOT), () -> server.stat().failures(code));
      }
    }
  }
}
