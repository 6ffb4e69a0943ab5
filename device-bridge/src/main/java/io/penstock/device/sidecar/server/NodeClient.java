package io.penstock.device.sidecar.server;

import io.penstock.block.Owned;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Copy;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import io.penstock.device.sidecar.link.SideCarMessage.Known;
import io.penstock.device.sidecar.link.SideCarMessage.Register;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The regions and copies of one client, over all of its connections. For the node's mailbox.
final class NodeClient {
  private final RegionOwner owner;
  private final NodeWorkers node;
  private final Map<Long, NodeRegion> regions = new LinkedHashMap<>();
  private final List<Runnable> whenSettled = new ArrayList<>();
  private final List<Runnable> whenGone = new ArrayList<>();
  private @Nullable NodeSession session;
  /// Bytes of regions that are mapped, are being mapped, or are being unmapped.
  private long hostBytes;
  private int copies;
  private boolean leaving;

  /// @param gone runs when everything of it has been given back
  NodeClient(RegionOwner owner, NodeWorkers node, Runnable gone) {
    this.owner = owner;
    this.node = node;
    this.whenGone.add(gone);
  }

  RegionOwner owner() {
    return owner;
  }

  /// Callbacks that wait for its end.
  int waiting() {
    return whenGone.size();
  }

  boolean isLeaving() {
    return leaving;
  }

  @Nullable NodeSession session() {
    return session;
  }

  /// Runs `then` when all work of an earlier session has ended.
  void attach(NodeSession next, Runnable then) {
    session = next;
    whenSettled.add(then);
    changed();
  }

  void register(Register request, Consumer<SideCarMessage> reply) {
    RegionSpec wanted = request.region();
    NodeRegion there = regions.get(wanted.id());
    if (leaving) {
      reply.accept(node.refused(SideCarCode.NODE_CLOSED, wanted.id(), "leaving"));
    } else if (there == null) {
      map(wanted, reply);
    } else if (!there.isWanted()) {
      there.leave(() -> register(request, reply)); // when it is gone
    } else if (there.spec().equals(wanted)) {
      there.whenMapped(reply);
    } else {
      reply.accept(node.refused(SideCarCode.MISMATCH, wanted.id(),
          there.spec().bytes() == wanted.bytes()
              ? "from another source"
              : wanted.bytes() + " bytes, before " + there.spec().bytes()));
    }
  }

  private void map(RegionSpec wanted, Consumer<SideCarMessage> reply) {
    if (regions.size() == node.options().maxRegions()) {
      reply.accept(node.refused(SideCarCode.TOO_MANY, wanted.id(), regions.size() + " regions"));
      return;
    }
    Failed refusal = claim(wanted);
    if (refusal != null) {
      reply.accept(refusal);
      return;
    }
    NodeRegion region = new NodeRegion(wanted, () -> unmap(wanted.id()));
    regions.put(wanted.id(), region);
    region.whenMapped(reply);
    node.open(wanted, owner, region::mapped, failure -> {
      forget(wanted);
      region.tellMapping(node.answer(failure, SideCarCode.NOT_MAPPED, wanted.id()));
      region.gone();
      changed();
    }, this::changed);
  }

  /// Why there is no host memory for it; null if there is.
  private @Nullable Failed claim(RegionSpec region) {
    long most = node.options().maxClientBytes();
    if (region.hostBytes() > most - hostBytes) {
      return node.refused(SideCarCode.TOO_LARGE, region.id(),
          region.hostBytes() + " bytes beside " + hostBytes + " of at most " + most
              + " of a client");
    }
    Failed refusal = node.claim(region);
    if (refusal == null) {
      hostBytes += region.hostBytes();
    }
    return refusal;
  }

  private void forget(RegionSpec region) {
    regions.remove(region.id());
    hostBytes -= region.hostBytes();
    node.giveBack(region);
  }

  private void unmap(long id) {
    NodeRegion region = regions.get(id);
    if (region == null || region.window() == null) {
      throw new IllegalStateException("region must be mapped before it is unmapped (was " + id + ")");
    }
    node.close(region.spec(), region.window(), () -> {
      forget(region.spec());
      region.gone();
      changed();
    });
  }

  void unregister(long id, Consumer<SideCarMessage> reply) {
    NodeRegion region = regions.get(id);
    if (region == null) {
      reply.accept(new Done());
    } else {
      region.leave(() -> reply.accept(new Done()));
    }
  }

  void keep(List<Long> ids, Consumer<SideCarMessage> reply) {
    Set<Long> others = new LinkedHashSet<>(regions.keySet());
    ids.forEach(others::remove);
    leave(others, () -> reply.accept(new Done()));
  }

  private void leave(Set<Long> ids, Runnable then) {
    if (ids.isEmpty()) {
      then.run();
      return;
    }
    int[] left = {ids.size()};
    for (Long id : ids) {
      unregister(id, done -> {
        if (--left[0] == 0) {
          then.run();
        }
      });
    }
  }

  Known state(long id) {
    NodeRegion region = regions.get(id);
    return region == null ? new Known(RegionState.UNMAPPED, 0) : new Known(region.state(), region.spec().bytes());
  }

  void copy(Copy request, Consumer<SideCarMessage> reply) {
    if (leaving) {
      reply.accept(node.refused(SideCarCode.NODE_CLOSED, SideCarFailure.NO_REGION, "leaving"));
      return;
    }
    if (copies == node.options().maxCopies()) {
      reply.accept(node.refused(SideCarCode.BUSY, SideCarFailure.NO_REGION, copies + " in flight"));
      return;
    }
    CopyCheck check = new CopyCheck(regions, node, request.elements().size());
    Failed refusal = check.refusal(request.elements());
    if (refusal != null) {
      reply.accept(refusal);
      return;
    }
    copies++;
    check.touched().forEach(NodeRegion::begin);
    RefCount holds = node.holds(() -> {
      copies--;
      check.touched().forEach(NodeRegion::end);
      changed();
    });
    Owned first = holds.share();
    node.copy(check.elements(), holds, first, reply);
  }

  /// Refuses new requests, ends copies in flight, unmaps all; `then` runs after that.
  void leave(Runnable then) {
    whenGone.add(then);
    if (!leaving) {
      leaving = true;
      leave(new LinkedHashSet<>(regions.keySet()), () -> {});
    }
    changed();
  }

  private void changed() {
    if (leaving && regions.isEmpty() && copies == 0) {
      List<Runnable> last = List.copyOf(whenGone);
      whenGone.clear();
      last.forEach(Runnable::run);
    } else if (copies == 0 && regions.values().stream().allMatch(NodeRegion::isSettled)) {
      List<Runnable> waiting = List.copyOf(whenSettled);
      whenSettled.clear();
      waiting.forEach(Runnable::run);
    }
  }
}
