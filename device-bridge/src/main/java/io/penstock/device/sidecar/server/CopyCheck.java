package io.penstock.device.sidecar.server;

import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The copies of one call on their way from what a client names to memory: regions are found, bounds are compared. For
/// one event of the node's mailbox, so that no region changes meanwhile.
final class CopyCheck {
  private final Map<Long, NodeRegion> regions;
  private final NodeWorkers node;
  private final List<Copier.Element> elements;
  private final Set<NodeRegion> touched = new LinkedHashSet<>();
  /// Region of the previous copy: most copies use the same two regions.
  private @Nullable NodeRegion from;
  private @Nullable NodeRegion to;

  CopyCheck(Map<Long, NodeRegion> regions, NodeWorkers node, int copies) {
    this.regions = regions;
    this.node = node;
    this.elements = new ArrayList<>(copies);
  }

  /// Why they may not be made; null if they may.
  @Nullable Failed refusal(List<RegionCopy> copies) {
    for (RegionCopy copy : copies) {
      Failed refusal = refusal(copy);
      if (refusal != null) {
        return refusal;
      }
    }
    return null;
  }

  /// Copies that may be made.
  List<Copier.Element> elements() {
    return elements;
  }

  /// The regions of these.
  Set<NodeRegion> touched() {
    return touched;
  }

  private @Nullable Failed refusal(RegionCopy copy) {
    NodeRegion read = found(copy.from(), from);
    NodeRegion written = found(copy.to(), to);
    Failed refusal = refusal(copy.from(), read, copy.fromOffset(), copy.bytes());
    refusal = refusal == null ? refusal(copy.to(), written, copy.toOffset(), copy.bytes()) : refusal;
    if (refusal != null || read == null || written == null || read.window() == null || written.window() == null) {
      return refusal;
    }
    if (read != from || written != to) {
      touched.add(read);
      touched.add(written);
    }
    from = read;
    to = written;
    elements.add(new Copier.Element(read.window(), copy.fromOffset(), written.window(), copy.toOffset(), copy.bytes()));
    return null;
  }

  private @Nullable NodeRegion found(long id, @Nullable NodeRegion before) {
    return before != null && before.spec().id() == id ? before : regions.get(id);
  }

  private @Nullable Failed refusal(long id, @Nullable NodeRegion region, long offset, long bytes) {
    if (region == null || region.state() == RegionState.MAPPING) {
      return node.refused(SideCarCode.UNKNOWN_REGION, id, region == null ? "unknown" : "being mapped");
    }
    if (region.state() == RegionState.CLOSING) {
      return node.refused(SideCarCode.REGION_CLOSING, id, "unregistered");
    }
    return region.spec().contains(offset, bytes)
        ? null
        : node.refused(SideCarCode.OUT_OF_BOUNDS, id, bytes + " bytes at " + offset + " of " + region.spec().bytes());
  }
}
