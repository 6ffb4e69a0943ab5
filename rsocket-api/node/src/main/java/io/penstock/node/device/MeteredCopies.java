package io.penstock.node.device;

import io.penstock.device.CopyTurns;
import io.penstock.device.Device;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.CopyKind;
import io.penstock.device.ascend.CopyMethod;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.meter.CopyMeters;
import io.penstock.meter.PenstockMeters;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Counts the copies of Ascend devices, and logs a line for each call that failed.
public final class MeteredCopies implements AscendListener {
  private static final Logger LOG = LoggerFactory.getLogger(MeteredCopies.class);

  private final PenstockMeters registry;
  private final Map<String, CopyMeters> meters = new ConcurrentHashMap<>();

  public MeteredCopies(PenstockMeters registry) {
    this.registry = registry;
  }

  /// Shows the copies under way at `device`, of any kind.
  public void show(Device device) {
    CopyTurns turns = device.turns();
    of(device.name()).show(turns::underWay, turns::waiting);
  }

  private CopyMeters of(String device) {
    return meters.computeIfAbsent(device, registry::copies);
  }

  /// Name in the form of [io.penstock.device.ascend.AscendDevice#name()].
  private static String name(int device) {
    return "npu" + device;
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public void called(int device, CopyKind kind, CopyMethod method, int elements, long bytes, long nanos) {
    of(name(device)).called(lower(kind), lower(method), elements, bytes, nanos);
  }

  @Override
  public void failed(int device, int code, int elements) {
    LOG.warn("{}: {} copies {} with code {}, {}", name(device), elements,
        AclCode.isTimeout(code) ? "timed out" : "failed", code,
        AclCode.explained(code));
    of(name(device)).failed(AclCode.isTimeout(code), AclCode.tag(code), elements);
  }

  @Override
  public void fellBack(int device, int code) {
    LOG.warn(
        "{}: copies of this kind are made one by one from now on, for its library makes no batches of them "
            + "(code {}, {})",
        name(device), code, AclCode.explained(code));
    of(name(device)).fellBack();
  }
}
