package io.penstock.device.sidecar.server;

import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A region of a client, from the moment its memory is being opened until it was given back. For the node's mailbox.
final class NodeRegion {
  private final RegionSpec spec;
  private final Runnable unmap;
  private final List<Consumer<SideCarMessage>> mapping = new ArrayList<>();
  private final List<Runnable> leaving = new ArrayList<>();
  private RegionState state = RegionState.MAPPING;
  private boolean wanted = true;
  private int copies;
  private @Nullable RegionWindow window;

  /// @param unmap closes the window, elsewhere, and then has [#gone] called
  NodeRegion(RegionSpec spec, Runnable unmap) {
    this.spec = spec;
    this.unmap = unmap;
  }

  RegionSpec spec() {
    return spec;
  }

  RegionState state() {
    return state == RegionState.MAPPED && !wanted ? RegionState.CLOSING : state;
  }

  boolean isWanted() {
    return wanted;
  }

  /// Neither on its way in nor on its way out.
  boolean isSettled() {
    return state() == RegionState.MAPPED && copies == 0;
  }

  /// Null before it was mapped.
  @Nullable RegionWindow window() {
    return window;
  }

  /// Calls `reply` when the region is mapped, now or later.
  void whenMapped(Consumer<SideCarMessage> reply) {
    if (state == RegionState.MAPPED) {
      reply.accept(new Done());
    } else {
      mapping.add(reply);
    }
  }

  void mapped(RegionWindow opened) {
    window = opened;
    state = RegionState.MAPPED;
    tellMapping(new Done());
    leaveIfFree();
  }

  void tellMapping(SideCarMessage answer) {
    List.copyOf(mapping).forEach(reply -> reply.accept(answer));
    mapping.clear();
  }

  /// Refuses new copies, and unmaps once copies in flight have ended; `then` runs after that.
  void leave(Runnable then) {
    leaving.add(then);
    if (wanted) {
      wanted = false;
      leaveIfFree();
    }
  }

  private void leaveIfFree() {
    if (!wanted && copies == 0 && state == RegionState.MAPPED) {
      state = RegionState.CLOSING;
      unmap.run();
    }
  }

  void gone() {
    List.copyOf(leaving).forEach(Runnable::run);
    leaving.clear();
  }

  void begin() {
    copies++;
  }

  void end() {
    copies--;
    leaveIfFree();
  }
}
